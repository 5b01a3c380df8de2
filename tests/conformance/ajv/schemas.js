'use strict';

const { NAMES, STRINGS, NUMBERS, value } = require('./values');

// Random schemas over all keywords of the drafts, and events that have something to do with them.

const TYPES = ['null', 'boolean', 'integer', 'number', 'string', 'array', 'object'];
const FORMATS = ['date', 'time', 'date-time', 'uri', 'uri-reference', 'uri-template', 'url', 'email', 'hostname', 'ipv4',
  'ipv6', 'regex', 'uuid', 'json-pointer', 'json-pointer-uri-fragment', 'relative-json-pointer'];
// None in which a character outside the basic plane counts once here and twice in ajv, which reads patterns without the
// unicode flag: the official suite wants it to count once.
const PATTERNS = ['^a', 'b$', '^[a-z]*$', '^\\d+$', 'é', '^a.$', '[^/]', '^(?!x)', '(a)\\1', '^$', '\\w+', '^\\S+$', '😀', 'o'];

class SchemaMaker {
  constructor(random) {
    this.random = random;
    this.definitions = [];
    // Above 0 inside `not`, where no $ref is made: ajv compiles what it first meets there to tell one error only, and
    // goes on so wherever else the same schema is referred to.
    this.negations = 0;
    this.references = true;
    // Other documents that references may lead to, by URI.
    this.documents = {};
  }

  // A whole document, sometimes with definitions that references lead to.
  document() {
    const { random } = this;
    if (random.chance(0.02)) return random.chance(0.5);
    if (random.chance(0.15)) this.makeDocuments();
    const count = random.chance(0.4) ? 1 + random.below(3) : 0;
    for (let i = 0; i < count; ++i) this.definitions.push('d' + i);
    const schema = this.schema(3);
    if (typeof schema !== 'object') return schema;
    if (count > 0) {
      schema.definitions = {};
      for (const name of this.definitions) schema.definitions[name] = this.schema(2);
      if (random.chance(0.2)) {
        schema.definitions.named = { $id: random.pick(['#named', 'http://x.test/named', 'named.json']), ...this.leaf() };
      }
    }
    // Beside a $ref the drafts ignore $id.
    if (!schema.$ref && random.chance(0.15)) schema.$id = random.pick(['http://x.test/root', '/a/b/1.0.0', 'root.json']);
    if (random.chance(0.1)) {
      schema.$schema = random.pick(['http://json-schema.org/draft-07/schema#', 'http://json-schema.org/draft-07/schema',
        'http://json-schema.org/draft-06/schema#', 'http://json-schema.org/draft-04/schema#']);
    }
    return schema;
  }

  makeDocuments() {
    const uris = ['http://x.test/other.json', '/frag/1.0.0'];
    this.sound = true;  // ajv looks at every document, referred to or not
    for (const uri of uris) this.documents[uri] = { $id: uri, definitions: { n: this.leaf() } };
    for (const uri of uris) {
      Object.assign(this.documents[uri], this.schema(2));
      if (this.random.chance(0.5)) this.documents[uri].properties = { a: { $ref: '#/definitions/n' }, b: { $ref: '#' } };
      this.documents[uri].$id = uri;
    }
    this.sound = false;
  }

  leaf() {
    return { type: this.random.pick(TYPES), minimum: 1, maxLength: 3 };
  }

  reference() {
    const { random } = this;
    const targets = ['#'];
    for (const name of this.definitions) targets.push('#/definitions/' + name, '#/definitions/' + name);
    for (const uri of Object.keys(this.documents)) targets.push(uri, uri + '#', uri + '#/definitions/n');
    if (random.chance(0.1)) {
      targets.push('#/properties/a', '#/items', '#/definitions/d0/properties/a', '#/definitions/d0/items', '#named',
        'http://x.test/named', 'named.json', 'http://json-schema.org/draft-07/schema#',
        'http://json-schema.org/draft-07/schema#/definitions/nonNegativeInteger');
    }
    return random.pick(targets);
  }

  schema(depth) {
    const { random } = this;
    if (random.chance(0.06)) return random.chance(0.6);
    if (random.chance(0.04)) return random.chance(0.5) ? {} : { description: 'nothing', title: 'x' };
    const schema = {};
    if (this.references && this.negations === 0 && random.chance(this.definitions.length + Object.keys(this.documents).length > 0 ? 0.2 : 0.03)) {
      schema.$ref = this.reference();
      if (random.chance(0.85)) return schema;
    }
    const steps = 1 + random.below(4);
    for (let i = 0; i < steps; ++i) this.keyword(schema, depth);
    if (random.chance(0.5)) schema.type = this.type();
    if (random.chance(0.08)) schema.default = value(random, 1);
    if (random.chance(0.02)) schema.$comment = 'a comment';
    if (!this.sound && random.chance(0.01)) this.spoil(schema);
    return schema;
  }

  type() {
    const { random } = this;
    if (random.chance(0.75)) return random.pick(TYPES);
    return [...new Set([random.pick(TYPES), random.pick(TYPES), random.pick(TYPES)])];
  }

  schemas(depth, max) {
    return Array.from({ length: 1 + this.random.below(max) }, () => this.schema(depth));
  }

  named(names, depth, max) {
    const out = {};
    for (const name of this.random.some(names, max)) out[name] = this.schema(depth);
    return out;
  }

  keyword(schema, depth) {
    const { random } = this;
    const group = random.below(depth > 0 ? 10 : 4);
    switch (group) {
      case 0: return this.numeric(schema);
      case 1: return this.textual(schema);
      case 2: return this.counted(schema);
      case 3: return this.listed(schema);
      case 4: return this.array(schema, depth - 1);
      case 5:
      case 6:
      case 7: return this.object(schema, depth - 1);
      default: return this.combined(schema, depth - 1);
    }
  }

  numeric(schema) {
    const { random } = this;
    switch (random.below(5)) {
      case 0: schema.maximum = random.pick(NUMBERS); break;
      case 1: schema.minimum = random.pick(NUMBERS); break;
      case 2: schema.exclusiveMaximum = random.pick(NUMBERS); break;
      case 3: schema.exclusiveMinimum = random.pick(NUMBERS); break;
      default: schema.multipleOf = random.pick(NUMBERS.filter((n) => n > 0));
    }
  }

  textual(schema) {
    const { random } = this;
    switch (random.below(4)) {
      case 0: schema.maxLength = random.below(6); break;
      case 1: schema.minLength = random.below(6); break;
      case 2: schema.pattern = random.pick(PATTERNS); break;
      default: schema.format = random.pick(FORMATS);
    }
  }

  counted(schema) {
    const { random } = this;
    schema[random.pick(['maxItems', 'minItems', 'maxProperties', 'minProperties'])] = random.below(5);
  }

  listed(schema) {
    const { random } = this;
    switch (random.below(4)) {
      case 0: schema.const = value(random, 2); break;
      case 1:
      case 2: schema.enum = this.distinct(Array.from({ length: 1 + random.below(5) }, () => value(random, 1))); break;
      default: schema.required = [...new Set([random.pick(NAMES), ...random.some(NAMES, 3)])];
    }
  }

  distinct(list) {
    const seen = new Set();
    return list.filter((item) => {
      const key = JSON.stringify(item);
      return !seen.has(key) && seen.add(key);
    });
  }

  array(schema, depth) {
    const { random } = this;
    switch (random.below(6)) {
      case 0:
      case 1: schema.items = this.schema(depth); break;
      case 2:
        schema.items = this.schemas(depth, 3);
        // A default behind a missing entry would leave a hole in JavaScript's array.
        schema.items.forEach((item, i) => { if (i > 0 && item.default !== undefined) delete item.default; });
        if (random.chance(0.6)) schema.additionalItems = random.chance(0.4) ? false : this.schema(depth);
        break;
      case 3: schema.contains = this.schema(depth); break;
      case 4: schema.uniqueItems = random.chance(0.9); break;
      default:
        schema.uniqueItems = true;
        schema.items = { type: this.type() };
    }
  }

  object(schema, depth) {
    const { random } = this;
    switch (random.below(8)) {
      case 0:
      case 1:
      case 2:
        schema.properties = this.named(NAMES, depth, random.chance(0.1) ? 14 : 5);
        if (random.chance(0.5)) {
          schema.required = [...new Set([...Object.keys(schema.properties), ...random.some(NAMES, 2)])]
            .filter(() => random.chance(0.6));
          if (schema.required.length === 0) delete schema.required;
        }
        break;
      case 3: schema.additionalProperties = random.chance(0.5) ? false : this.schema(depth); break;
      case 4: schema.patternProperties = this.named(PATTERNS, depth, 3); break;
      case 5: schema.propertyNames = this.schema(depth); break;
      case 6:
        schema.dependencies = {};
        for (const name of random.some(NAMES, 3)) {
          schema.dependencies[name] = random.chance(0.5)
            ? [...new Set([random.pick(NAMES), ...random.some(NAMES, 2)])] : this.schema(depth);
        }
        break;
      default: schema.properties = this.named(NAMES, depth, 4);
    }
  }

  combined(schema, depth) {
    const { random } = this;
    switch (random.below(6)) {
      case 0: schema.allOf = this.schemas(depth, 3); break;
      case 1: schema.anyOf = this.schemas(depth, 3); break;
      case 2: schema.oneOf = this.schemas(depth, 3); break;
      case 3:
        ++this.negations;
        schema.not = this.schema(depth);
        --this.negations;
        break;
      default:
        this.condition(schema, depth);
    }
  }

  // Sound, since the meta-schemas before draft-07 do not look at these keywords, and what ajv makes of nonsense in them
  // is chance.
  condition(schema, depth) {
    const { random } = this;
    const before = this.sound;
    this.sound = true;
    schema.if = this.schema(depth);
    if (random.chance(0.7)) schema.then = this.schema(depth);
    if (random.chance(0.7)) schema.else = this.schema(depth);
    this.sound = before;
  }

  // Something that makes it no schema, or an unusable one.
  spoil(schema) {
    const { random } = this;
    Object.assign(schema, random.pick([
      { type: 'text' }, { minLength: -1 }, { maxLength: 1.5 }, { format: 'no-such-format' }, { pattern: '(' },
      { $ref: '#/definitions/nothing' }, { $ref: 'http://elsewhere.test/x' }, { required: 'a' }, { properties: [] },
      { enum: {} }, { items: 3 }, { multipleOf: 0 }, { patternProperties: { '[': {} } }, { type: [] },
      { allOf: [] }, { exclusiveMaximum: true, maximum: 3 }, { minimum: '1' }, { dependencies: { a: 1 } },
    ]));
  }
}

// A value that a schema may well take: it follows the keywords it knows, and strays now and then.
function eventFor(random, schema, depth, root, documents = {}) {
  if (depth < 0 || typeof schema !== 'object' || schema === null || random.chance(0.15)) return value(random, 2);
  if (typeof schema.$ref === 'string') {
    const target = documents[schema.$ref.split('#')[0]] || (schema.$ref.startsWith('#/') ? schema.$ref.slice(2).split('/').reduce(
      (at, step) => (at === undefined || at === null ? undefined : at[step]), root) : root);
    return eventFor(random, target, depth - 1, root, documents);
  }
  if ('const' in schema && random.chance(0.7)) return schema.const;
  if (Array.isArray(schema.enum) && schema.enum.length > 0 && random.chance(0.7)) return random.pick(schema.enum);
  for (const key of ['allOf', 'anyOf', 'oneOf']) {
    if (Array.isArray(schema[key]) && schema[key].length > 0 && random.chance(0.4)) {
      return eventFor(random, random.pick(schema[key]), depth - 1, root, documents);
    }
  }
  let type = Array.isArray(schema.type) ? random.pick(schema.type) : schema.type;
  if (type === undefined) {
    if (schema.properties || schema.required || schema.additionalProperties !== undefined || schema.patternProperties ||
        schema.propertyNames || schema.dependencies) type = 'object';
    else if (schema.items || schema.contains || schema.uniqueItems) type = 'array';
    else return value(random, 2);
  }
  switch (type) {
    case 'null': return null;
    case 'boolean': return random.chance(0.5);
    case 'integer':
    case 'number': return random.pick(NUMBERS);
    case 'string': return random.pick(STRINGS);
    case 'array': return Array.from({ length: random.below(5) }, (_, i) => eventFor(random,
      Array.isArray(schema.items) ? schema.items[i] || schema.additionalItems : schema.items || schema.contains,
      depth - 1, root, documents));
    default: return objectFor(random, schema, depth, root, documents);
  }
}

function objectFor(random, schema, depth, root, documents) {
  const object = {};
  const properties = schema.properties || {};
  const names = Object.keys(properties).filter(() => random.chance(0.75));
  for (const name of Array.isArray(schema.required) ? schema.required : []) {
    if (typeof name === 'string' && random.chance(0.8)) names.push(name);
  }
  for (const name of Object.keys(schema.dependencies || {})) if (random.chance(0.5)) names.push(name);
  names.push(...random.some(NAMES, 2));
  for (const name of names) {
    const sub = properties[name] !== undefined ? properties[name] : schema.additionalProperties;
    object[name] = eventFor(random, sub, depth - 1, root, documents);
  }
  return object;
}

module.exports = { SchemaMaker, eventFor, TYPES };
