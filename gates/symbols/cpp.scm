; Functions of C++.

(function_definition declarator: (_) @declarator body: (_) @body) @function
(function_definition declarator: (_) @declarator (default_method_clause) @body) @function
(function_definition declarator: (_) @declarator !body (try_statement) @body) @function

(namespace_definition name: (_) @scope.name) @scope
(class_specifier name: (_) @scope.name body: (_)) @scope
(struct_specifier name: (_) @scope.name body: (_)) @scope
(union_specifier name: (_) @scope.name body: (_)) @scope

(declaration declarator: (init_declarator declarator: (identifier) @name
  value: (lambda_expression declarator: (_)? @parameters body: (_) @body))
  (#set! closure "yes")) @function
(field_declaration declarator: (field_identifier) @name
  default_value: (lambda_expression declarator: (_)? @parameters body: (_) @body)
  (#set! closure "yes")) @function

(preproc_if condition: (number_literal) @c (#eq? @c "0")) @ignore
(preproc_if alternative: (_) @keep)

(preproc_def name: (_) @name value: (_) @target) @alias
