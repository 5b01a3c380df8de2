'use strict';
// Takes pictures of a page. One argument, JSON: {url, shots: [{file, width, dark, open}]}.
const fs = require('node:fs');
const {launch} = require('./chromium');
const {small} = require('./small_png');

async function main() {
  const {url, shots} = JSON.parse(process.argv[2]);
  const browser = await launch();
  try {
    for (const {file, width, dark, open} of shots) {
      const context = await browser.newContext({
        viewport: {width, height: 700}, colorScheme: dark ? 'dark' : 'light', deviceScaleFactor: 1,
      });
      const page = await context.newPage();
      await page.goto(url);
      if (open) await page.click('.events details summary');
      fs.writeFileSync(file, small(await page.screenshot({fullPage: true})));
      await context.close();
    }
  } finally {
    await browser.close();
  }
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
