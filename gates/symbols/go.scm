; Functions of Go.

(function_declaration name: (_) @name parameters: (_) @parameters body: (_) @body) @function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: (_) @container))
  name: (_) @name parameters: (_) @parameters body: (_) @body) @function

(var_spec name: (_) @name value: (expression_list . (func_literal parameters: (_) @parameters body: (_) @body))
  (#set! closure "yes")) @function

(var_spec name: (_) @name value: (expression_list . [(identifier) (selector_expression)] @target)) @alias
