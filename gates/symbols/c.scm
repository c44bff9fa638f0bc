; Functions of C.

(function_definition declarator: (_) @declarator body: (_) @body) @function

; A macro that makes a function: `TEST(a, b) { … }`; a function without the type of what it returns, also in the style of K&R.
([(expression_statement (call_expression function: (identifier) @name arguments: (argument_list) @parameters) (MISSING ";"))
  (ERROR . (call_expression function: (identifier) @name arguments: (argument_list) @parameters) .)]
  . (declaration)* . (compound_statement) @body @function
  (#set! closure "yes") (#set! from "name"))
(function_definition type: (type_identifier) @name declarator: (parenthesized_declarator) @parameters body: (_) @body
  (#set! closure "yes")) @function

(preproc_if condition: (number_literal) @c (#eq? @c "0")) @ignore
(preproc_if alternative: (_) @keep)

(preproc_def name: (_) @name value: (_) @target) @alias
