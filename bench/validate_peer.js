'use strict';

// JSON.parse and ajv 6 on the corpora of validate_bench, in processor time. Prints the same JSON lines.
//
//   node validate_peer.js SCHEMA_FOLDER GOLDEN_FILE ROUNDS

const fs = require('fs');
const path = require('path');
const modules = path.join(__dirname, '../tests/conformance/node_modules');
const Ajv = require(path.join(modules, 'ajv'));
const yaml = require(path.join(modules, 'js-yaml'));

const [folder, golden, rounds] = [process.argv[2], process.argv[3], Number(process.argv[4])];

function seconds() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

const schemas = new Map();

function schemaOf(uri) {
  if (!schemas.has(uri)) {
    let file = path.join(folder, uri);
    let text = fs.readFileSync(file, 'utf8');
    // Without symbolic links, a file of one line that names another stands for that one.
    if (text.length < 100 && !text.includes('\n')) text = fs.readFileSync(path.join(path.dirname(file), text), 'utf8');
    schemas.set(uri, yaml.load(text, { schema: yaml.JSON_SCHEMA }));
  }
  return schemas.get(uri);
}

const validators = new Map();

function validatorOf(uri) {
  if (!validators.has(uri)) {
    // One instance for each schema: embedded fragments have the same ids in several of them.
    const ajv = new Ajv({ useDefaults: true, schemaId: 'auto', allErrors: true, logger: false });
    ajv.addMetaSchema({ ...require(path.join(modules, 'ajv/lib/refs/json-schema-draft-07.json')),
      $id: 'https://json-schema.org/draft-07/schema#' });
    validators.set(uri, ajv.compile(schemaOf(uri)));
  }
  return validators.get(uri);
}

function measure(corpus, what, cases, step) {
  const times = [];
  for (let round = -2; round < rounds; ++round) {  // the first two warm up, compilers included
    let events = 0;
    const begin = seconds();
    let spent = 0;
    while (spent < 0.15) {
      for (let i = 0; i < 2048; ++i, ++events) step(cases[events % cases.length]);
      spent = seconds() - begin;
    }
    if (round >= 0) times.push((spent * 1e9) / events);
  }
  times.sort((a, b) => a - b);
  const round = (x) => Math.round(x * 10) / 10;
  console.log(JSON.stringify({ who: 'node', corpus, what, ns: round(times[times.length >> 1]), min: round(times[0]),
    max: round(times[times.length - 1]), events: cases.length }));
}

function caseOf(uri, raw) {
  return { raw, validate: validatorOf(uri), event: JSON.parse(raw) };
}

const example = (uri) => [caseOf(uri, JSON.stringify(schemaOf(uri).examples[0]))];
const corpora = {
  small: example('/mediawiki/revision/create/2.0.0'),
  large: example('/mediawiki/page/change/1.2.0'),
  valid: [],
  invalid: [],
};
for (const line of fs.readFileSync(golden, 'utf8').split('\n')) {
  if (!line) continue;
  const { schema, raw, valid, load_error: refused } = JSON.parse(line);
  if (refused === undefined) corpora[valid ? 'valid' : 'invalid'].push(caseOf(schema, raw));
}

let verdicts = 0;
for (const [name, cases] of Object.entries(corpora)) {
  measure(name, 'parse', cases, (c) => { verdicts += JSON.parse(c.raw) !== undefined; });
  measure(name, 'parse+validate', cases, (c) => { verdicts += c.validate(JSON.parse(c.raw)); });
  measure(name, 'validate', cases, (c) => { verdicts += c.validate(c.event); });
}
