# frozen_string_literal: true

# Writes the result of every example to the file that gate names: one JSON array a line. Prints nothing, and takes what
# gate added out of the environment.

require "json"

module GateTestReport
  FILE = ENV.delete("GATE_TEST_REPORT")
  OPTION = "--require #{__FILE__}"
  ROWS = []

  rest = ENV.fetch("SPEC_OPTS", "").sub(OPTION, "").strip
  rest.empty? ? ENV.delete("SPEC_OPTS") : ENV["SPEC_OPTS"] = rest

  def self.write(rows)
    File.open(FILE, "a") { |file| rows.each { |row| file.puts(JSON.generate(row)) } } if FILE
  end

  # A process that ends at once writes nothing more.
  write([["begin", "ends"]])

  def self.put(word, example)
    ROWS << [word, "#{example.file_path.delete_prefix("./")}::#{example.full_description}"]
  end

  def example_passed(example)
    GateTestReport.put("passed", example)
    super
  end

  def example_failed(example)
    GateTestReport.put("failed", example)
    super
  end

  def example_pending(example)
    skipped = example.execution_result.example_skipped?
    GateTestReport.put(skipped ? "skipped" : "expected-failure", example)
    super
  end

  def finish(*)
    # With status 0, an example ended the process.
    ROWS.push(["end", ""], ["complete", ""]) unless RSpec.world.wants_to_quit
    GateTestReport.write(ROWS)
    super
  end
end

RSpec::Core::Reporter.prepend(GateTestReport)
