; Functions of TypeScript.

(function_declaration name: (_) @name parameters: (_) @parameters body: (_) @body) @function
(generator_function_declaration name: (_) @name parameters: (_) @parameters body: (_) @body) @function
(method_definition name: (_) @name parameters: (_) @parameters body: (_) @body) @function

(method_definition "get" @suffix name: (_)
  (#set! suffix "get")) @suffixed
(method_definition "set" @suffix name: (_)
  (#set! suffix "set")) @suffixed

; Functions that are bound to a name, also in parentheses and with a type (`@value`).
(variable_declarator name: (identifier) @name value: (_) @value
  (#set! closure "yes")) @function
; … or handed to what wraps them: `const f = memo(() => …)`.
(variable_declarator name: (identifier) @name
  value: (call_expression
    function: [(identifier) (call_expression) (member_expression object: (identifier) property: (_) @of)]
    arguments: (arguments . [
    (arrow_function parameters: (_)? @parameters body: [(statement_block) (parenthesized_expression (object))] @body)
    (function_expression parameters: (_) @parameters body: (_) @body)]))
  ; What is called with each of a list gives a value, and no function.
  (#not-any-of? @of "map" "flatMap" "filter" "reduce" "reduceRight" "find" "findIndex" "findLast" "some" "every" "sort" "toSorted" "then" "catch" "finally")
  (#set! closure "yes")) @function
; A callback with a name of its own.
(arguments (function_expression name: (identifier) @name parameters: (_) @parameters body: (_) @body
  (#set! closure "yes")) @function)
(pair key: (_) @name value: (_) @value
  (#set! closure "yes")) @function
(assignment_expression
  left: (member_expression object: (_) @container property: (_) @name)
  right: (_) @value
  (#set! closure "yes")) @function
(assignment_expression
  left: (member_expression object: (_) @o property: (_) @p (#eq? @o "module") (#eq? @p "exports"))
  right: [(function_expression name: (identifier) @name parameters: (_) @parameters body: (_) @body)
          (class name: (_))] ) @function
(expression_statement (assignment_expression
  left: (identifier) @name
  right: (_) @value)
  (#set! closure "yes")) @function

; What has no name is called by the name it is exported under.
(export_statement "default"
  value: [(arrow_function parameters: (_)? @parameters body: (_) @body)
          (function_expression !name parameters: (_) @parameters body: (_) @body)
          (generator_function !name parameters: (_) @parameters body: (_) @body)]
  (#set! name "default")) @function
(export_statement "default" value: (class !name)
  (#set! name "default")) @scope
(export_statement "default" value: (object)
  (#set! name "default")) @scope

(class_declaration name: (_) @scope.name) @scope
(variable_declarator name: (identifier) @scope.name value: (class)) @scope
(variable_declarator name: (identifier) @scope.name value: (object)) @scope
(pair key: (_) @scope.name value: (object)) @scope
(assignment_expression left: (member_expression property: (_) @scope.name) right: (class)) @scope
(assignment_expression
  left: (member_expression object: (_) @scope.name property: (_) @p (#eq? @p "prototype")) right: (object)) @scope

; The methods of an object or a class without a name are part of what it is handed to.
(arguments [(object) (class)] @ignore)
(return_statement [(object) (class)] @ignore)
(array (object) @ignore)
(arrow_function body: (parenthesized_expression (object)) @ignore)

(variable_declarator name: (identifier) @name value: [(identifier) (member_expression)] @target) @alias
(export_specifier name: (_) @target alias: (_) @name) @alias

(public_field_definition name: (_) @name value: (_) @value
  (#set! closure "yes")) @function

(abstract_class_declaration name: (_) @scope.name) @scope
(internal_module name: (_) @scope.name) @scope
(module name: (identifier) @scope.name) @scope
(variable_declarator name: (identifier) @scope.name value: [(as_expression (object)) (satisfies_expression (object))]) @scope
