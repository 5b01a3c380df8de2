'use strict';

// Random JSON values, and texts of values in the many ways in which JSON can be written.

const NAMES = ['a', 'b', 'c', 'foo', 'bar-baz', 'x y', '1', '0', '10', '01', "a'b", 'a"b', 'a/b', 'a~b', 'é', '😀',
  'a\nb', 'a\\b', '', 'a%b', '$id2', 'meta', 'longer_property_name', 'longer_property_nome', 'type', 'Z'];
// Without the names that JavaScript's objects have by themselves: ajv trips over them, the drafts do not.
const STRINGS = ['', 'a', 'abc', 'abcdefghij', 'é', '😀😀', '\ud800', '\udc00x', '2020-01-01', '2020-01-01T00:00:00Z',
  'not a date', 'a@b.c', '127.0.0.1', '::1', 'http://a.b/c', 'a b', '/a/b', '12', 'x\u0000y', 'line\n', 'null',
  '550e8400-e29b-41d4-a716-446655440000', '1', 'true', 'ZZ', 'aaa'];
const NUMBERS = [0, -0, 1, -1, 2, 3, 5, 10, 0.5, 1.5, -2.5, 0.1, 0.3, 1e-7, 1e21, 1e300, 9007199254740993, 255,
  2147483647, 2147483648, -2147483648, -2147483649, 18446744073709552000, 4.35, 100];

function value(random, depth) {
  const kind = random.below(depth > 0 ? 9 : 6);
  switch (kind) {
    case 0: return null;
    case 1: return random.chance(0.5);
    case 2:
    case 3: return random.pick(NUMBERS);
    case 4:
    case 5: return random.pick(STRINGS);
    case 6: return Array.from({ length: random.below(5) }, () => value(random, depth - 1));
    default: {
      const object = {};
      for (const name of random.some(NAMES, 5)) object[name] = value(random, depth - 1);
      return object;
    }
  }
}

function numberText(random, number) {
  if (Object.is(number, -0)) return random.pick(['-0', '-0.0', '-0e1']);
  if (!Number.isFinite(number)) return number > 0 ? '1e999' : '-1e999';
  const plain = JSON.stringify(number);
  if (random.chance(0.8) || /e/.test(plain)) return plain;
  if (Number.isInteger(number)) return random.pick([plain + '.0', plain + 'e0', plain + 'E+0', plain + '.000']);
  return random.pick([plain + '0', plain + 'e0']);
}

function stringText(random, string) {
  const plain = JSON.stringify(string);
  if (random.chance(0.9)) return plain;
  let out = '"';
  for (const unit of string.split('')) {
    out += random.chance(0.5) ? '\\u' + unit.charCodeAt(0).toString(16).padStart(4, '0') : JSON.stringify(unit).slice(1, -1);
  }
  return out + '"';
}

// JSON text of a value: with odd numbers, escapes, spaces, and members that come twice.
function text(random, v) {
  const space = () => (random.chance(0.03) ? random.pick([' ', '\n', '\t', '  ']) : '');
  if (typeof v === 'number') return numberText(random, v);
  if (typeof v === 'string') return stringText(random, v);
  if (v === null || typeof v !== 'object') return JSON.stringify(v);
  if (Array.isArray(v)) return '[' + v.map((item) => space() + text(random, item) + space()).join(',') + ']';
  const members = Object.keys(v).map((key) => [key, v[key]]);
  if (members.length > 1 && random.chance(0.2)) members.sort(() => random.next() - 0.5);
  if (members.length > 0 && random.chance(0.05)) members.unshift([random.pick(members)[0], random.pick(NUMBERS)]);
  return '{' + members.map(([key, item]) =>
    space() + stringText(random, key) + space() + ':' + space() + text(random, item)).join(',') + '}';
}

module.exports = { NAMES, STRINGS, NUMBERS, value, text };
