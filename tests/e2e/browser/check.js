'use strict';
// Sends events from a page of another origin in the ways that browsers have, and loads the status page. Takes one
// argument, JSON: {page, other, stranger, events, closed, listed, admin}. Prints one JSON object with what happened.
const {launch, complaintsOf} = require('./chromium');

function eventOf(id, extra) {
  return {$schema: '/page/view/1.0.0', meta: {stream: 'page.view', id}, page: {path: '/' + id}, ...extra};
}

async function sendOnLeaving(context, setup, how) {
  const page = await context.newPage();
  const complaints = complaintsOf(page);
  await page.goto(setup.page);
  await page.evaluate(({how, url, text}) => {
    addEventListener('pagehide', () => {
      if (how === 'beacon') {
        navigator.sendBeacon(url, text);
      } else {
        fetch(url, {method: 'POST', body: text, keepalive: true, headers: {'content-type': 'text/plain'}});
      }
    });
  }, {how, url: setup.events, text: JSON.stringify(eventOf(how))});
  await page.goto(setup.other);  // leaves the page: what it sends then, it sends without being there
  await page.close();
  return complaints;
}

async function fetchFrom(page, url, contentType, body) {
  return page.evaluate(async ({url, contentType, body}) => {
    try {
      const answer = await fetch(url, {method: 'POST', headers: {'content-type': contentType}, body});
      return {status: answer.status, text: await answer.text()};
    } catch (error) {
      return {error: error.name};
    }
  }, {url, contentType, body});
}

function report(n) {
  return {
    age: n, type: 'network-error', url: 'https://wiki.example/' + n, user_agent: 'a browser',
    body: {elapsed_time: 1, method: 'GET', phase: 'connection', protocol: 'h2', referrer: '', server_ip: '',
           sampling_fraction: 1, status_code: 0, type: 'tcp.refused'},
  };
}

async function sendFromPage(context, setup) {
  const page = await context.newPage();
  const complaints = complaintsOf(page);
  await page.goto(setup.page);
  const json = await fetchFrom(page, setup.events, 'application/json', JSON.stringify(eventOf('json')));
  const reports = await fetchFrom(page, setup.events + '?stream=reports&schema_uri=/reports/1.0.0',
                                  'application/reports+json', JSON.stringify([report(1), report(2)]));
  const before = [...complaints];
  const bad = await fetchFrom(page, setup.events, 'application/json', '{"$schema":"/none/1.0.0"}');
  const refused = await fetchFrom(page, setup.closed, 'application/json', JSON.stringify(eventOf('closed')));
  await page.close();
  return {json, reports, bad, refused, complaints: before, expected: complaints.slice(before.length)};
}

// A daemon that lists the origins which it allows: one that is listed, and one that is not.
async function sendToListed(context, setup) {
  const page = await context.newPage();
  const complaints = complaintsOf(page);
  await page.goto(setup.page);
  const allowed = await fetchFrom(page, setup.listed, 'application/json', JSON.stringify(eventOf('listed')));
  const allowedComplaints = [...complaints];
  await page.goto(setup.stranger);
  const refused = await fetchFrom(page, setup.listed, 'application/json', JSON.stringify(eventOf('stranger')));
  await page.close();
  return {allowed, complaints: allowedComplaints, refused};
}

async function statusPage(browser, setup) {
  const context = await browser.newContext();
  const page = await context.newPage();
  const complaints = complaintsOf(page);
  await page.addInitScript(() => {
    window.violations = [];
    addEventListener('securitypolicyviolation',
                     (event) => window.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
  });
  const requests = [];
  page.on('request', (request) => requests.push(request.url()));
  const answer = await page.goto(setup.admin);
  const first = await page.textContent('header time');
  await page.click('.events details summary');
  const opened = await page.getAttribute('.events details', 'id');
  // waitForFunction would evaluate a text, which the page's policy forbids.
  for (const end = Date.now() + 15000; await page.textContent('header time') === first && Date.now() < end;) {
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  const result = {
    refreshed: await page.textContent('header time') !== first,
    policy: answer.headers()['content-security-policy'],
    text: await page.textContent('main'),
    stillOpen: await page.evaluate((id) => document.getElementById(id)?.open ?? null, opened),
    images: await page.evaluate(() => document.images.length),
    scripts: await page.evaluate(() => document.scripts.length),
    overflow: [],
    violations: await page.evaluate(() => window.violations),
    foreign: requests.filter((url) => !url.startsWith(setup.admin)),
    complaints,
  };
  for (const width of [320, 390, 768, 1280]) {
    await page.setViewportSize({width, height: 800});
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    if (wide > width) result.overflow.push(`${wide} at ${width}`);
  }
  await context.close();
  const plain = await browser.newContext({javaScriptEnabled: false});
  const still = await plain.newPage();
  await still.goto(setup.admin);
  result.withoutScript = await still.textContent('main');
  result.refresh = (await still.content()).includes('http-equiv="refresh"');
  await plain.close();
  return result;
}

async function main() {
  const setup = JSON.parse(process.argv[2]);
  const browser = await launch();
  try {
    const context = await browser.newContext();
    const leaving = [];
    for (const how of ['beacon', 'keepalive']) leaving.push(...await sendOnLeaving(context, setup, how));
    const sent = await sendFromPage(context, setup);
    const listed = await sendToListed(context, setup);
    await context.close();
    const status = await statusPage(browser, setup);
    console.log(JSON.stringify({leaving, ...sent, listed, status}));
  } finally {
    await browser.close();
  }
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
