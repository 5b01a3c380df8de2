'use strict';
// Debian's Chromium, driven by playwright-core.
const {execFileSync} = require('node:child_process');
const {chromium} = require('playwright-core');

function executable() {
  return execFileSync('sh', ['-c', 'command -v chromium'], {encoding: 'utf8'}).trim();
}

async function launch() {
  return chromium.launch({executablePath: executable(), args: ['--no-sandbox', '--disable-gpu']});
}

// Everything that a page complains about: console errors and warnings, exceptions, refused resources.
function complaintsOf(page) {
  const complaints = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`exception: ${error.message}`));
  return complaints;
}

module.exports = {launch, complaintsOf};
