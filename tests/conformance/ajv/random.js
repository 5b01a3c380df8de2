'use strict';

// A seeded generator of random numbers (mulberry32), and choices made with it.
class Random {
  constructor(seed) {
    this.state = seed >>> 0;
  }

  next() {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  below(n) {
    return Math.floor(this.next() * n);
  }

  chance(p) {
    return this.next() < p;
  }

  pick(list) {
    return list[this.below(list.length)];
  }

  some(list, max) {
    const out = [];
    const n = this.below(max + 1);
    for (let i = 0; i < n; ++i) out.push(this.pick(list));
    return out;
  }
}

module.exports = { Random };
