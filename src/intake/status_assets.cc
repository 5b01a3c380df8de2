#include "intake/status_assets.h"

namespace sluice::intake {

std::string_view StatusStyle() {
  return R"css(
:root {
  --back: #f7f7f5; --card: #fff; --ink: #1d2125; --soft: #666d75; --line: #e2e2dd;
  --good: #26795a; --accepted: #3a9a75; --refused: #d39a2d; --failed: #cc4637;
  --refused-ink: #8a5f0a; --failed-ink: #b0301f;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #14171a; --card: #1c2024; --ink: #e4e6e8; --soft: #98a0a8; --line: #2d3339;
    --good: #6cc7a0; --accepted: #4fae88; --refused: #d9a443; --failed: #e5685a;
    --refused-ink: #e6b860; --failed-ink: #f08a7e;
  }
}
* { box-sizing: border-box; margin: 0; }
body {
  background: var(--back); color: var(--ink);
  font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif;
  font-variant-numeric: tabular-nums;
}
main { max-width: 1080px; margin: 0 auto; padding: 20px 20px 48px; display: grid; gap: 20px; }
main > * { min-width: 0; }
header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 4px 14px; }
h1 { font-size: 20px; font-weight: 650; overflow-wrap: anywhere; }
h2 { font-size: 14px; font-weight: 650; margin-bottom: 8px; }
h2 small, h3, .about, .axis, .tile small, .empty, dt, thead th { color: var(--soft); }
h2 small { font-size: 12px; font-weight: 400; margin-left: 4px; }
h3 { font-size: 12px; font-weight: 400; }
a { color: inherit; }
.state { font-weight: 600; padding: 1px 10px; border-radius: 10px; border: 1px solid; }
.state.good { color: var(--good); }
.state.bad { color: var(--failed-ink); }
.about { margin-left: auto; font-size: 13px; }
.card, .tile, figure, table, .health {
  background: var(--card); border: 1px solid var(--line); border-radius: 8px;
}
.health { list-style: none; padding: 4px 14px; display: flex; flex-wrap: wrap; gap: 0 24px; }
.health li { padding: 5px 0; max-width: 100%; overflow-wrap: anywhere; }
.health b { font-weight: 600; margin-right: 6px; }
.health b::before {
  content: ""; display: inline-block; width: 8px; height: 8px; border-radius: 4px; margin-right: 7px;
  background: var(--accepted);
}
.health span { color: var(--soft); }
.health .warn b::before { background: var(--refused); }
.health .bad { flex-basis: 100%; order: -1; }
.health .bad b::before { background: var(--failed); border-radius: 1px; }
.health .bad span { color: var(--failed-ink); }
.tiles { display: grid; grid-template-columns: repeat(4, 1fr); gap: 12px; }
.tile { padding: 10px 14px; border-left-width: 3px; }
.tile p { font-size: 24px; line-height: 1.25; font-weight: 600; }
.tile.accepted { border-left-color: var(--accepted); }
.tile.refused { border-left-color: var(--refused); }
.tile.failed { border-left-color: var(--failed); }
.charts { display: grid; grid-template-columns: 2fr 1fr; gap: 12px; }
figure { padding: 10px 14px; min-width: 0; }
figcaption { display: flex; flex-wrap: wrap; gap: 0 14px; align-items: baseline; font-weight: 650; }
.key, .top { font-size: 12px; font-weight: 400; color: var(--soft); }
.top { margin-left: auto; }
.top::before { content: "top "; }
.key i { display: inline-block; width: 9px; height: 9px; border-radius: 2px; margin: 0 4px 0 8px; }
i.accepted { background: var(--accepted); }
i.refused { background: var(--refused); }
i.failed { background: var(--failed); }
svg { display: block; width: 100%; overflow: hidden; }
.chart {
  height: 120px; margin-top: 8px; border: solid var(--line); border-width: 1px 0;
  background: linear-gradient(var(--line), var(--line)) 0 50% / 100% 1px no-repeat;
}
.sparkline { height: 22px; border-bottom: 1px solid var(--line); }
polygon.accepted { fill: var(--accepted); }
polygon.refused { fill: var(--refused); }
polygon.failed { fill: var(--failed); }
.line { fill: none; stroke: var(--accepted); stroke-width: 1.6; vector-effect: non-scaling-stroke; }
.axis { display: grid; grid-template-columns: repeat(3, 1fr); font-size: 11px; margin-top: 3px; }
.axis :last-child { display: flex; justify-content: space-between; }
table { width: 100%; border-collapse: separate; border-spacing: 0; }
th, td { padding: 5px 10px; text-align: right; font-weight: 400; }
thead th { font-size: 12px; white-space: nowrap; }
th:first-child { text-align: left; padding-left: 14px; overflow-wrap: anywhere; }
td:last-child, th:last-child { padding-right: 14px; }
tbody th { font-weight: 500; }
tbody tr > * { border-top: 1px solid var(--line); }
.spark { width: 26%; padding: 4px 10px; }
.none { color: color-mix(in srgb, var(--soft) 60%, var(--card)); }
td.refused, em.refused { color: var(--refused-ink); }
td.failed, dd.failed, em.failed { color: var(--failed-ink); }
.empty { padding: 8px 0; font-size: 13px; }
.facts { display: grid; grid-template-columns: repeat(3, 1fr); gap: 12px; }
.card { padding: 10px 14px; }
dl > div { display: flex; gap: 12px; justify-content: space-between; padding: 2px 0; }
dd { text-align: right; overflow-wrap: anywhere; min-width: 0; }
dt { flex: none; }
.list { background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
details { min-width: 0; }
details + details { border-top: 1px solid var(--line); }
summary {
  cursor: pointer; padding: 5px 14px; display: grid; gap: 0 14px; align-items: baseline;
  grid-template-columns: auto minmax(0, 15em) minmax(0, 13em) minmax(0, 1fr); list-style: none;
}
summary::-webkit-details-marker { display: none; }
summary time { color: var(--soft); }
summary b { font-weight: 500; overflow-wrap: anywhere; }
summary em { font-style: normal; overflow-wrap: anywhere; }
summary span { color: var(--soft); white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
summary:hover, details[open] summary { background: color-mix(in srgb, var(--line) 35%, transparent); }
details[open] summary span { visibility: hidden; }
details dl { padding: 8px 14px; }
details dl > div { justify-content: flex-start; }
details dt { width: 5em; }
details dd { text-align: left; }
pre {
  font: 12px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace;
  padding: 0 14px 12px; white-space: pre-wrap; overflow-wrap: anywhere;
}
#stale {
  position: sticky; top: 0; padding: 8px 20px; background: var(--failed); color: #fff; z-index: 1;
  text-align: center;
}
:focus-visible { outline: 2px solid var(--accepted); outline-offset: 2px; }
@media (max-width: 760px) {
  main { padding: 14px 12px 32px; gap: 14px; }
  .about { margin-left: 0; flex-basis: 100%; }
  .tiles { grid-template-columns: 1fr 1fr; gap: 8px; }
  .tile p { font-size: 20px; }
  .charts { grid-template-columns: 1fr; gap: 8px; }
  .chart { height: 96px; }
  .spark { display: none; }
  th, td { padding: 6px; }
  th:first-child { padding-left: 12px; }
  td:last-child, th:last-child { padding-right: 12px; }
  .facts { grid-template-columns: 1fr; gap: 8px; }
  summary { grid-template-columns: auto minmax(0, 1fr) auto; padding: 7px 12px; }
  summary span { grid-column: 1 / -1; }
}
)css";
}

// Fetches the page again and puts its main part in place of the old one; what is opened stays open.
std::string_view StatusScript() {
  return R"js('use strict';
(() => {
  const stale = document.getElementById('stale');
  let heard = new Date();

  async function refresh() {
    if (document.hidden || !getSelection().isCollapsed) return;
    try {
      const answer = await fetch('/', {cache: 'no-store'});
      if (!answer.ok) throw new Error(answer.status);
      const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
      for (const open of document.querySelectorAll('details[open]')) {
        const same = fresh.getElementById(open.id);
        if (same) same.open = true;
      }
      const focused = document.activeElement && document.activeElement.closest('details');
      document.querySelector('main').replaceWith(fresh.querySelector('main'));
      if (focused) {
        const again = document.getElementById(focused.id);
        if (again) again.querySelector('summary').focus();
      }
      heard = new Date();
      stale.hidden = true;
    } catch {
      stale.textContent = 'No answer since ' + heard.toLocaleTimeString();
      stale.hidden = false;
    }
  }

  setInterval(refresh, 5000);
  document.addEventListener('visibilitychange', refresh);
})();
)js";
}

std::string_view StatusIcon() {
  return R"svg(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#26795a"/><path d="M3 4h10M3 8h7M3 12h4" stroke="#fff" stroke-width="2" stroke-linecap="round"/></svg>
)svg";
}

}  // namespace sluice::intake
