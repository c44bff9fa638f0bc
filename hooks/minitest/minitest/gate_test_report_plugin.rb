# frozen_string_literal: true

# Writes the result of every test to the file that gate names: one JSON array a line. Prints nothing, and takes what
# gate added out of the environment.

require "json"

module Minitest
  class GateTestReport < AbstractReporter
    def initialize(file)
      super()
      @file = file
      @rows = []
      # A process that ends at once writes nothing more.
      write([["begin", "ends"]])
    end

    def record(result)
      word = result.skipped? ? "skipped" : (result.passed? ? "passed" : "failed")
      owner = result.respond_to?(:klass) ? result.klass : result.class.name
      @rows << [word, "#{owner}##{result.name}"]
    end

    def report
      write(@rows + [["end", ""], ["complete", ""]])
    end

    private

    def write(rows)
      File.open(@file, "a") { |file| rows.each { |row| file.puts(JSON.generate(row)) } }
    end
  end

  def self.plugin_gate_test_report_init(_options)
    file = ENV.delete("GATE_TEST_REPORT")
    here = File.dirname(__dir__)
    rest = ENV.fetch("RUBYLIB", "").split(File::PATH_SEPARATOR).reject { |path| path == here }
    rest.empty? ? ENV.delete("RUBYLIB") : ENV["RUBYLIB"] = rest.join(File::PATH_SEPARATOR)
    reporter << GateTestReport.new(file) if file
  end
end
