// Hands the results of vitest to the file that loaded it.

const { put, write } = globalThis[Symbol.for('gate.testReport')];

function resultOf(task) {
  const state = task.result?.state;
  if (state === 'pass') return task.fails ? 'expected-failure' : 'passed';
  if (state === 'fail') return 'failed';
  return 'skipped';
}

function walk(task, file, titles) {
  if (task.type === 'suite') {
    for (const child of task.tasks) walk(child, file, task.filepath ? [] : [...titles, task.name]);
  } else {
    put(resultOf(task), file, [...titles, task.name]);
  }
}

export default class GateReporter {
  report(files) {
    if (this.done) return;
    this.done = true;
    for (const file of files) {
      walk(file, file.filepath, []);
      if (file.result?.state === 'fail' && file.result.errors?.length) put('failed', file.filepath, []);
    }
    write(true);
  }

  // Until version 3.
  onFinished(files) {
    this.report(files ?? []);
  }

  // Since version 3.
  onTestRunEnd(modules) {
    this.report(modules.map((module) => module.task));
  }
}
