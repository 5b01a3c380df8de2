'use strict';
// Holds formats, patterns and number printing against Node and ajv 6 itself. Usage:
//   node differential.js DRIVER AJV_FOLDER [CASES_PER_FORMAT] [SEED]
// Prints each difference, and exits with 1 if there is one.
const {spawnSync} = require('child_process');
const path = require('path');
const [driver, ajvFolder, countArgument, seedArgument] = process.argv.slice(2);
const count = Number(countArgument || 3000);
const seed = Number(seedArgument || 1);
const formats = require(path.join(ajvFolder, 'lib/compile/formats.js'))('fast');

// mulberry32: small, seeded, good enough to choose with.
let state = seed >>> 0;
function random() {
  state = (state + 0x6d2b79f5) >>> 0;
  let t = state;
  t = Math.imul(t ^ (t >>> 15), t | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}
const below = (n) => Math.floor(random() * n);
const pick = (list) => list[below(list.length)];

// WTF-8, in hexadecimal.
function hex(text) {
  const bytes = [];
  for (const character of text) {
    const c = character.codePointAt(0);
    if (c < 0x80) bytes.push(c);
    else if (c < 0x800) bytes.push(0xc0 | (c >> 6), 0x80 | (c & 63));
    else if (c < 0x10000) bytes.push(0xe0 | (c >> 12), 0x80 | ((c >> 6) & 63), 0x80 | (c & 63));
    else {
      bytes.push(0xf0 | (c >> 18), 0x80 | ((c >> 12) & 63), 0x80 | ((c >> 6) & 63), 0x80 | (c & 63));
    }
  }
  return bytes.length === 0 ? '-' : Buffer.from(bytes).toString('hex');
}

function ask(questions) {
  const run = spawnSync(driver, [], {input: questions.join('\n') + '\n', maxBuffer: 1 << 28});
  if (run.status !== 0) throw new Error('the driver failed: ' + run.signal + ' ' + run.stderr);
  return run.stdout.toString().trimEnd().split('\n');
}

let differences = 0;
function report(what, expected, answer) {
  if (++differences <= 40) console.log(`DIFFERENT ${what}: expected ${expected}, was ${answer}`);
}

// ---- formats -------------------------------------------------------------------------------

const seeds = {
  'date': ['2020-12-31', '1999-19-39', '0000-00-00'],
  'time': ['23:59:60', '12:34:56Z', '12:34:56.789+01:00', '01:02:03-0800', '29:59:59+01', '00:00:00z'],
  'date-time': ['2020-12-31T23:59:60Z', '2019-01-01t00:00:00.000z', '2020-06-15 12:34:56+01:00',
    '2020-19-39T29:59:59-0100', '1985-04-12T23:20:50.52Z', '2020-12-31\u00a012:00:00+01', '2020-12-31\u300012:00:00Z'],
  'uri': ['http://a.b/c?d#e', 'urn:x', 'a+b-c.d:', 'x://', 'mailto:a@b.c', 'HTTP://\u00e9/'],
  'uri-reference': ['http://a.b/c?d#e', '/a\\b', '//h', '', '#f', 'a#b#c', '\\a', '#\\', '/#a\\b', '?q', 'a:/\\b'],
  'uri-template': ['http://a/{x}{?y*,z:12}', '{+a,b}', '{a%20:1}', '%41{#x}', '{x:9999}', '{}', 'a{/b*}c'],
  'url': ['http://a.bc/', 'https://u:p@example.com:8080/x?y', 'ftp://1.2.3.4', 'http://10.1.2.3',
    'http://172.16.0.1', 'http://172.32.0.1/', 'http://192.168.1.1', 'http://192.169.1.1', 'http://169.254.1.1',
    'http://223.255.255.254', 'http://\u4f8b\u3048.\u30c6\u30b9\u30c8', 'http\u017f://a-b.cd', 'http://127.0.0.1',
    'http://a.b-c.de:65535', 'http://100.200.50.25:80', 'http://x@169.253.9.9/', 'http://172.015.1.1', 'http://12.1.1.1'],
  'email': ['a@b', 'joe.bloggs@example.com', 'a!#$%&\'*+/=?^_`{|}~-@x-y.z', 'a@' + 'x'.repeat(63) + '.y'],
  'hostname': ['a', 'a-b.c.d', 'example.com.', 'x'.repeat(63) + '.y', ('x'.repeat(62) + '.').repeat(4),
    ('x'.repeat(62) + '.').repeat(4) + 'y', 'a--b', ('x'.repeat(49) + '.').repeat(5) + 'yyy'],
  'ipv4': ['0.0.0.0', '255.255.255.255', '001.010.100.199', '256.1.1.1', '1.2.3.4', '249.25.2.00'],
  'ipv6': ['::', '::1', '1::', '1:2:3:4:5:6:7:8', '1:2:3:4:5:6:1.2.3.4', '::ffff:1.2.3.4', ' ::1 ', '1::8%eth0',
    '1:2:3:4:5:6:7::', '1::3:4:5:6:7:8', 'fe80::1%a \n', '::2:3:4:5:6:7:8', '1:2:3:4:5::1.2.3.4', '1::2:3:4:5:6.7.8.9',
    '::1.2.3.4', '1:2:3:4::5.6.7.8', '\u00a0a::b\ufeff'],
  'regex': ['^a$', '[a-z]+', '(?<n>a)\\k<n>', 'a{1,2}', '(?=a)*', '\\u0041\\x41\\0', '[\\d-z]', 'a\\Z', '\\\\Z'],
  'uuid': ['123e4567-e89b-12d3-a456-426614174000', 'URN:uuid:123E4567-e89b-12d3-a456-426614174000'],
  'json-pointer': ['', '/a/b', '/~0~1', '/~', '//', '/\u00e9', 'a'],
  'json-pointer-uri-fragment': ['#', '#/a/b', '#/~0~1', '#/%20', '#/@:', '#a'],
  'relative-json-pointer': ['0', '1/a', '10#', '0/~1', '01', '1#/'],
};
const alphabets = ['0123456789abcdefABCDEF.:-/', '0123456789:.-+TtZz ', '/:?#[]@!$&\'()*+,;=%~\\"<>{}|^`',
  'abcxyzABCXYZ09._-@', ' \t\n\r\v\f\u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000\ufeff\u0085\u180e\u200b',
  '\u00e9\u017f\u212a\u4f8b\uffff\u0000\u007f\u0130', '\ud800\udc00\udbff\udfff'];

function randomText(length) {
  let text = '';
  const alphabet = pick(alphabets);
  for (let i = 0; i < length; i++) text += pick(random() < 0.9 ? alphabet : pick(alphabets));
  return text;
}

// One to three edits, so that most results are near misses.
function mutate(text, own) {
  for (let edits = 1 + below(3); edits > 0; edits--) {
    const at = below(text.length + 1);
    const what = below(7);
    if (what === 0) text = text.slice(0, at) + text.slice(at + 1);
    else if (what === 1) text = text.slice(0, at) + randomText(1) + text.slice(at);
    else if (what === 2) text = text.slice(0, at) + randomText(1) + text.slice(at + 1);
    else if (what === 3) text = text.slice(0, at) + text.slice(below(text.length + 1));
    else if (what === 4) text = text.slice(0, at) + pick(own).slice(below(8));
    else if (what === 5) text = text.slice(0, at) + text.slice(at, at + 1 + below(4)).repeat(1 + below(3)) + text.slice(at + 1);
    else text = text.slice(0, at) + String(below(300)) + text.slice(at + 1 + below(2));
  }
  return text;
}

function testFormats() {
  const questions = [];
  const expected = [];
  const names = [];
  for (const [name, own] of Object.entries(seeds)) {
    const check = formats[name];
    for (let i = 0; i < count; i++) {
      const text = i < own.length ? own[i] : random() < 0.05 ? randomText(below(12)) : mutate(pick(own), own);
      // Catastrophic in the original itself: not asked there.
      if (name === 'url' && text.length > 60) continue;
      const valid = typeof check === 'function' ? check(text) : check.test(text);
      questions.push(`format ${name} fast ${hex(text)}`);
      expected.push(valid ? '1' : '0');
      names.push(`${name} ${JSON.stringify(text)}`);
    }
  }
  compare('formats', questions, expected, names);
}

// ---- expressions -----------------------------------------------------------------------------

function randomExpression(depth) {
  const atoms = ['a', 'b', 'c', '.', '\\d', '\\w', '\\s', '\\D', '\\W', '\\S', '[ab]', '[^a]', '[a-c]', '[\\d-]', '[]', '[^]',
    '\\b', '\\B', '^', '$', '\\1', '\\2', '\\0', '\\x61', '\\u0062', '\\cA', '\\c', '\\-', '\\/', ' ', '\\n', '1', '\\12',
    '\\8', '[\\b]', '[\\w-z]', '{', '}', ']', '\\k<n>', '\\k', '[\\k]', '\u00e9', '\\xz', '\\u{61}', '[a\\-z]', '\\377', '[\\c_]', '[^\\S]',
    '[z-a]', '\\ud800', '[\\ud800-\\udbff]', 'a{2}', 'a{,2}', '{1}', '\\p{L}', '-'];
  if (depth === 0 || random() < 0.3) return pick(atoms);
  switch (below(9)) {
    case 0: case 1: return randomExpression(depth - 1) + randomExpression(depth - 1);
    case 2: return randomExpression(depth - 1) + '|' + randomExpression(depth - 1);
    case 3: return '(' + randomExpression(depth - 1) + ')';
    case 4: return '(?:' + randomExpression(depth - 1) + ')';
    case 5: return pick(['(?=', '(?!', '(?<=', '(?<!']) + randomExpression(depth - 1) + ')';
    case 6: return '(?:' + randomExpression(depth - 1) + ')' + pick(['*', '+', '?', '*?', '+?', '??', '{2}', '{1,2}', '{0,1}?', '{2,}', '{3,1}']);
    case 7: return randomExpression(depth - 1) + pick(['*', '+', '?', '{2}', '{1,3}', '{2,}?', '{']);
    default: return random() < 0.3 ? '(?<n>' + randomExpression(depth - 1) + ')' : '(' + randomExpression(depth - 1) + ')*';
  }
}
const textAlphabet = 'aaabbbccc  11-\n\u00e9\u2028A_{}\u0001\u0000\\k\ud800';
function randomSubject() {
  let text = '';
  for (let i = below(8); i > 0; i--) text += pick(textAlphabet);
  return text;
}

// Noise, for the grammar alone.
function randomNoise() {
  const pieces = ['(', ')', '[', ']', '{', '}', '*', '+', '?', '|', '^', '$', '\\', '-', ',', '1', '2', '9', 'a', 'z', 'k', '<', '>', 'n',
    '=', '!', ':', 'u', 'x', 'c', '0', '7', '8', 'b', 'B', 'd', 'p', '_', '(?<n>', '\\k<n>', '(?:', '\u{1f432}', '\ud83d', '{1,2}', '.', '\n',
    '\\u', '\\x', '\\c', '(?<\u00e9>', '(?<\\u0061>', '\\u{61}', '(?<\u{20000}>', '(?<\u{1f432}>', '[\u{1f432}-\u{1f435}]', '\\d-'];
  let text = '';
  for (let i = 1 + below(9); i > 0; i--) text += pick(pieces);
  return text;
}

function testGrammar() {
  const questions = [];
  const expected = [];
  const names = [];
  for (let i = 0; i < 10 * count; i++) {
    const source = random() < 0.7 ? randomNoise() : randomExpression(3);
    let valid = true;
    try {
      new RegExp(source);
    } catch (e) {
      valid = false;
    }
    questions.push(`check ${hex(source)}`);
    expected.push(valid ? '1' : '0');
    names.push(JSON.stringify(source));
  }
  compare('grammar', questions, expected, names);
}

function testPatterns() {
  const questions = [];
  const expected = [];
  const names = [];
  for (let i = 0; i < 2 * count; i++) {
    const source = (random() < 0.4 ? '^' : '') + randomExpression(1 + below(4)) + (random() < 0.4 ? '$' : '');
    if (source.includes('\\p')) continue;  // properties, as the drafts want them
    let regexp = null;
    try {
      regexp = new RegExp(source);
    } catch (e) {
      // an error is expected then
    }
    for (const engine of ['auto', 'simple', 're2', 'backtrack']) {
      for (let n = 0; n < 6; n++) {
        const text = randomSubject();
        questions.push(`pattern ${engine} ${hex(source)} ${hex(text)}`);
        expected.push(regexp ? (regexp.test(text) ? '1' : '0') : 'invalid');
        names.push(`${engine} ${JSON.stringify(source)} on ${JSON.stringify(text)}`);
      }
    }
  }
  compare('patterns', questions, expected, names);
}

// ---- numbers -----------------------------------------------------------------------------------

function testNumbers() {
  const questions = [];
  const expected = [];
  const names = [];
  const bytes = new DataView(new ArrayBuffer(8));
  for (let i = 0; i < 20 * count; i++) {
    let value;
    switch (below(5)) {
      case 0:
        bytes.setUint32(0, below(4294967296));
        bytes.setUint32(4, below(4294967296));
        value = bytes.getFloat64(0);
        break;
      case 1: value = below(1e9) * Math.pow(10, below(40) - 25); break;
      case 2: value = (random() - 0.5) * Math.pow(2, below(140) - 70); break;
      case 3: value = Math.round(random() * Math.pow(2, below(70))); break;
      default: value = pick([0, -0, 1e21, 1e-7, 1e-6, 123456789012345680000, 5e-324, 1.7976931348623157e308,
        18446744073709552000, -1e17, 0.1, 1 / 3, Infinity, -Infinity, NaN, 9007199254740993, 1e20, 999999999999999900000]);
    }
    bytes.setFloat64(0, value);
    questions.push('number ' + bytes.getUint32(0).toString(16).padStart(8, '0') + bytes.getUint32(4).toString(16).padStart(8, '0'));
    expected.push(String(value));
    names.push('number ' + String(value));
  }
  compare('numbers', questions, expected, names);
}

function compare(what, questions, expected, names) {
  const answers = ask(questions);
  const before = differences;
  const counts = {};
  for (let i = 0; i < questions.length; i++) {
    counts[answers[i]] = (counts[answers[i]] || 0) + 1;
    if (answers[i] !== expected[i] && answers[i] !== 'none') report(names[i], expected[i], answers[i]);
  }
  const shown = what === 'numbers' ? '' : ' ' + JSON.stringify(counts);
  console.log(`${what}: ${questions.length} cases, ${differences - before} differences${shown}`);
}

testFormats();
testGrammar();
testPatterns();
testNumbers();
process.exit(differences === 0 ? 0 : 1);
