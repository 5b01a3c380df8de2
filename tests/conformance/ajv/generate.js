'use strict';

// Writes cases for the differential test to stdout, one JSON object a line:
//   {"schema": …, "documents": {uri: …}, "events": [{"raw": text, "valid": …, "errors": […], "errorsText": …, "after": text}, …]}
// `refused` stands in place of `events` where ajv does not compile the schema, `throws` in an event that ajv cannot
// finish. Usage: node generate.js --seed N --count EVENTS [--schemas FOLDER --golden FILE]

const fs = require('fs');
const path = require('path');
const Ajv = require('ajv');
const yaml = require('js-yaml');
const { Random } = require('./random');
const { NAMES, value, text } = require('./values');
const { SchemaMaker, eventFor, TYPES } = require('./schemas');

const options = {};
for (let i = 2; i + 1 < process.argv.length; i += 2) options[process.argv[i].replace(/^--/, '')] = process.argv[i + 1];
const random = new Random(Number(options.seed || 1));
const wanted = Number(options.count || 5000);
const EVENTS_PER_SCHEMA = 10;

const ajv = new Ajv({ useDefaults: true, schemaId: 'auto', allErrors: true, logger: false });
ajv.addMetaSchema(require('ajv/lib/refs/json-schema-draft-04.json'));
ajv.addMetaSchema(require('ajv/lib/refs/json-schema-draft-06.json'));
// The original knows draft-07 by both ids.
ajv.addMetaSchema({ ...require('ajv/lib/refs/json-schema-draft-07.json'), $id: 'https://json-schema.org/draft-07/schema#' });

// Infinity would be null in JSON.
function infinities(key, v) {
  return v === Infinity ? '+infinity' : v === -Infinity ? '-infinity' : v;
}

function judge(validate, raw) {
  const event = JSON.parse(raw);
  const before = JSON.stringify(event, infinities);
  let valid;
  try {
    valid = validate(event);
  } catch (e) {
    return { raw, throws: e.message };
  }
  const out = { raw, valid };
  if (!valid) {
    out.errors = validate.errors;
    out.errorsText = validate.errors.map((e) => `'${e.dataPath}' ${e.message}`).join(', ');
  }
  const after = JSON.stringify(event, infinities);
  if (after !== before) out.after = after.replace(/"([+-])infinity"/g, (_, sign) => (sign === '+' ? '' : '-') + '1e999');
  return out;
}

function asFile(schema) {
  return JSON.stringify(schema).replace(/\\ud[0-9a-f]{3}/g, 's');
}

function write(schema, raws, documents = {}) {
  // Schemas come to both sides as one text, and so does the order of their members.
  // Lone surrogates cannot stand in a schema file.
  const schemaText = asFile(schema);
  const line = { schema: schemaText, documents: {} };
  try {
    for (const uri of Object.keys(documents)) {
      line.documents[uri] = asFile(documents[uri]);
      ajv.addSchema(JSON.parse(line.documents[uri]), uri);
    }
    const validate = ajv.compile(JSON.parse(schemaText));
    line.events = raws.map((raw) => judge(validate, raw));
  } catch (e) {
    line.refused = e.message;
    line.events = [];
  }
  ajv.removeSchema();
  ajv._fragments = {};
  // A schema that is refused while ajv is inside a `not` would leave it telling one error only.
  ajv._opts.allErrors = ajv._metaOpts.allErrors = true;
  fs.writeSync(1, JSON.stringify(line) + '\n');
  return raws.length;
}

function randomCase() {
  const maker = new SchemaMaker(random);
  const schema = maker.document();
  const raws = [];
  for (let i = 0; i < EVENTS_PER_SCHEMA; ++i) raws.push(text(random, eventFor(random, schema, 4, schema, maker.documents)));
  return write(schema, raws, maker.documents);
}

// Real schemas and events, and changes to both.

function versionFiles(folder) {
  const out = [];
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory()) out.push(...versionFiles(full));
    else if (/^\d+\.\d+\.\d+\.yaml$/.test(entry.name) && entry.isFile()) out.push(full);
  }
  return out.sort();
}

function realCorpus() {
  if (!options.schemas) return [];
  const events = new Map();
  for (const line of fs.readFileSync(options.golden, 'utf8').split('\n')) {
    if (!line) continue;
    const { schema, raw } = JSON.parse(line);
    if (!events.has(schema)) events.set(schema, []);
    events.get(schema).push(raw);
  }
  return versionFiles(options.schemas).map((file) => {
    const schema = yaml.load(fs.readFileSync(file, 'utf8'), { schema: yaml.JSON_SCHEMA });
    const raws = (schema.examples || []).map((e) => JSON.stringify(e)).concat(events.get(schema.$id) || []);
    return { schema, raws };
  }).filter((entry) => entry.raws.length > 0);
}

// Every object and array inside a value, with the key that leads on from it.
function places(root, out = []) {
  if (root === null || typeof root !== 'object') return out;
  for (const key of Object.keys(root)) {
    out.push([root, key]);
    places(root[key], out);
  }
  return out;
}

function changeEvent(event) {
  const all = places(event);
  if (all.length === 0) return;
  const [holder, key] = random.pick(all);
  switch (random.below(6)) {
    case 0: if (Array.isArray(holder)) holder.splice(Number(key), 1); else delete holder[key]; break;
    case 1: holder[key] = value(random, 2); break;
    case 2: if (typeof holder[key] === 'string') holder[key] += random.pick(['x', ' ', '\n', '😀', 'x'.repeat(300)]); break;
    case 3: if (typeof holder[key] === 'number') holder[key] = random.pick([-holder[key], holder[key] + 0.5, 1e30]); break;
    case 4: if (!Array.isArray(holder)) holder[random.pick(NAMES)] = value(random, 1); break;
    default: if (!Array.isArray(holder)) holder['n' + random.below(20)] = holder[key];
  }
}

function subschemas(schema, out = []) {
  if (schema === null || typeof schema !== 'object') return out;
  out.push(schema);
  for (const sub of Object.values(schema.properties || {})) subschemas(sub, out);
  for (const key of ['items', 'additionalProperties']) subschemas(schema[key], out);
  return out;
}

function changeSchema(schema, maker) {
  const sub = random.pick(subschemas(schema));
  switch (random.below(7)) {
    case 0: { const keys = Object.keys(sub); if (keys.length > 0) delete sub[random.pick(keys)]; break; }
    case 1: sub.type = random.chance(0.7) ? random.pick(TYPES) : maker.type(); break;
    case 2: sub.additionalProperties = random.chance(0.6) ? false : maker.schema(1); break;
    case 3: if (sub.properties) sub.required = Object.keys(sub.properties).filter(() => random.chance(0.5)); break;
    case 4: if (sub.properties) sub.properties[random.pick(NAMES)] = maker.schema(1); break;
    case 5: sub.default = value(random, 1); break;
    default: maker.keyword(sub, 1);
  }
  if (Array.isArray(sub.required) && sub.required.length === 0) delete sub.required;
}

function realCase(corpus) {
  const entry = random.pick(corpus);
  const schema = JSON.parse(JSON.stringify(entry.schema));
  const maker = new SchemaMaker(random);
  // Real schemas embed others with their $id, and "#" is then the embedded one for the drafts, the whole for ajv.
  maker.references = false;
  if (random.chance(0.6)) for (let i = random.below(4); i >= 0; --i) changeSchema(schema, maker);
  const raws = [];
  for (let i = 0; i < EVENTS_PER_SCHEMA; ++i) {
    const raw = random.pick(entry.raws);
    const event = JSON.parse(raw);
    if (JSON.stringify(event) === 'null' || random.chance(0.2)) { raws.push(raw); continue; }
    for (let n = random.below(4); n >= 0; --n) changeEvent(event);
    raws.push(text(random, event));
  }
  return write(schema, raws);
}

const corpus = realCorpus();
for (let done = 0; done < wanted;) {
  done += corpus.length > 0 && random.chance(0.5) ? realCase(corpus) : randomCase();
}
