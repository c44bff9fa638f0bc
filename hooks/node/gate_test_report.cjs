'use strict';
// Writes the result of every test that jest, mocha or vitest runs to the file that gate names: one JSON array a line. Of
// each file that `node --test` runs, it writes that it was opened, and closed once all of its tests were done.
// Prints nothing. Tests and the processes that they start see the environment as it was before gate added this file.

const fs = require('fs');
const Module = require('module');
const path = require('path');

const own = process.env.GATE_TEST_REPORT;
const main = path.basename(process.argv[1] || '').replace(/\.[cm]?js$/, '');
const RUNNERS = { jest: hookJest, mocha: hookMocha, _mocha: hookMocha, vitest: hookVitest };
const rows = [];

/** Takes what gate added out of the environment. */
function restore() {
  delete process.env.GATE_TEST_REPORT;
  const option = `--require=${__filename}`;
  const rest = (process.env.NODE_OPTIONS || '').split(' ').filter((part) => part !== option).join(' ');
  if (rest) process.env.NODE_OPTIONS = rest;
  else delete process.env.NODE_OPTIONS;
}

function put(result, file, titles) {
  const name = titles.join(' > ');
  const home = file ? path.relative(process.cwd(), file).split(path.sep).join('/') : '';
  // A file has no title; that of a test can be empty.
  rows.push([result, home && titles.length ? `${home}::${name}` : home || name]);
}

/** Appends everything at once, so that several runners can write one after the other. */
function write(complete) {
  rows.unshift(['begin', '']);
  if (complete) rows.push(['complete', '']);
  fs.appendFileSync(own, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
}

/** Replaces what `require` returns for the first request that `concerns` accepts. */
function onRequire(concerns, replace) {
  const load = Module._load;
  Module._load = function (request, parent, ...rest) {
    const exported = load.call(this, request, parent, ...rest);
    if (!concerns(request, parent)) return exported;
    Module._load = load;
    restore();
    return replace(exported);
  };
}

function hookJest() {
  const STATUS = { passed: 'passed', failed: 'failed', pending: 'skipped', skipped: 'skipped', todo: 'skipped', disabled: 'skipped' };
  const report = (results) => {
    for (const file of results.testResults) {
      for (const test of file.testResults) {
        if (STATUS[test.status]) put(STATUS[test.status], file.testFilePath, [...test.ancestorTitles, test.title]);
      }
      if (file.testExecError) put('failed', file.testFilePath, []);
    }
    write(!results.wasInterrupted);
  };
  const replace = (exported) =>
    Object.create(exported, {
      runCLI: {
        value: async (...args) => {
          const answer = await exported.runCLI(...args);
          report(answer.results);
          return answer;
        },
      },
    });
  onRequire((request) => request === '@jest/core', replace);
}

function hookMocha() {
  const titles = (test) => (typeof test.titlePath === 'function' ? test.titlePath() : [test.fullTitle()]);
  let ended = false;
  const note = (event, test) => {
    if (event === 'end') {
      // With parallel jobs it comes twice.
      if (!ended) write(true);
      ended = true;
    } else if (test && test.type === 'hook') {
      // A hook has no result of its own: the test before which it failed has.
      const concerned = test.ctx && test.ctx.currentTest;
      if (event === 'fail' && concerned) put('failed', concerned.file, titles(concerned));
    } else if (test && typeof test.fullTitle === 'function') {
      const result = { pass: 'passed', fail: 'failed', pending: 'skipped' }[event];
      if (result) put(result, test.file, titles(test));
    }
  };
  restore();
  // The modules of mocha cannot be replaced since version 12. Its runner is an emitter, and the first of its kind is the one.
  const prototype = require('events').EventEmitter.prototype;
  const { emit } = prototype;
  const isRunner = (emitter) => typeof emitter.runSuite === 'function' && typeof emitter.runTests === 'function';
  prototype.emit = function (event, ...args) {
    if (!isRunner(this)) return emit.call(this, event, ...args);
    prototype.emit = emit;
    const value = function (event, ...args) {
      note(event, args[0]);
      return emit.call(this, event, ...args);
    };
    Object.defineProperty(this, 'emit', { value, configurable: true, writable: true });
    return this.emit(event, ...args);
  };
}

/** Returns the name of the reporter that vitest takes where an agent reads along. It differs between versions. */
function reporterForAgents(home) {
  const chunks = path.join(home, 'dist', 'chunks');
  const texts = fs.readdirSync(chunks).filter((name) => name.endsWith('.js')).map((name) => fs.readFileSync(path.join(chunks, name), 'utf8'));
  const chosen = texts.map((text) => /\bisAgent \? "([\w-]+)"/.exec(text)).find(Boolean);
  return chosen && chosen[1];
}

function hookVitest() {
  restore();
  const args = process.argv.slice(2);
  const others = /^(?:bench|list|init|related|--reporters?|--mergeReports|--merge-reports|--ui|--standalone|--config|-c|--root|-r|--project)(?:=|$)/;
  if (args.some((arg) => others.test(arg))) return;
  // Reporters that somebody chose stay alone.
  const configured = fs
    .readdirSync('.')
    .filter((name) => /^(?:vitest|vite)\.(?:config|workspace|projects)\.[cm]?[jt]s$/.test(name))
    .some((name) => fs.readFileSync(name, 'utf8').includes('reporter'));
  if (configured || process.env.GITHUB_ACTIONS) return;
  const home = path.dirname(fs.realpathSync(process.argv[1]));
  const [major, minor] = JSON.parse(fs.readFileSync(path.join(home, 'package.json'), 'utf8')).version.split('.').map(Number);
  let standard = 'default';
  if (major > 4 || (major === 4 && minor >= 1)) {
    // It is brief where an agent reads along.
    if (require(require.resolve('std-env', { paths: [home] })).isAgent) standard = reporterForAgents(home);
  }
  if (!standard) return;
  process.argv.push(`--reporter=${standard}`, `--reporter=${path.join(__dirname, 'gate_vitest_reporter.mjs')}`);
  globalThis[Symbol.for('gate.testReport')] = { put, write };
}

/** Returns true if a test of node's own runner, and all tests in it, came to their end. */
function isDone(test) {
  return test.finished && (test.passed !== false || test.isTodo) && (test.subtests || []).every(isDone);
}

/** Watches the process in which `node --test` runs one file. It passes with status 0, whatever its tests did not do. */
function watchFile() {
  restore();
  const note = (word) => fs.appendFileSync(own, `${JSON.stringify([word, path.relative(process.cwd(), file)])}\n`);
  const file = process.argv[1];
  let [root, isOpen, isDrained] = [null, false, false];
  const open = () => {
    if (!isOpen) note('opened');
    isOpen = true;
  };
  // The first test is the root of all others.
  const hook = require('async_hooks').createHook({
    init(id, type, trigger, resource) {
      if (type !== 'Test') return;
      hook.disable();
      root = resource;
      open();
    },
  });
  hook.enable();
  if (/['"`](?:node:)?test['"`]/.test(fs.readFileSync(file, 'utf8'))) open();
  process.once('beforeExit', () => {
    isDrained = true;
  });
  process.once('exit', () => {
    if (isOpen && (isDrained || (root && root.subtests.length && root.subtests.every(isDone)))) note('closed');
  });
}

if (own && /^child/.test(process.env.NODE_TEST_CONTEXT || '')) {
  try {
    watchFile();
  } catch {
    // As below.
  }
} else if (own && RUNNERS[main]) {
  try {
    RUNNERS[main]();
  } catch {
    // No names are better than a run that fails.
  }
}
