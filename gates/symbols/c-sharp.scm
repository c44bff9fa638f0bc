; Functions of C#.

(method_declaration name: (_) @name parameters: (_) @parameters body: (_) @body) @function
(constructor_declaration name: (_) @name parameters: (_) @parameters body: (_) @body) @function
; The parameters of a type are its constructor.
(class_declaration name: (_) @name (parameter_list) @parameters (#set! header "yes")) @function
(struct_declaration name: (_) @name (parameter_list) @parameters (#set! header "yes")) @function
(record_declaration name: (_) @name (parameter_list) @parameters (#set! header "yes")) @function
(destructor_declaration "~" name: (_) @name parameters: (_) @parameters body: (_) @body
  (#set! prefix "~")) @function
(operator_declaration operator: _ @name parameters: (_) @parameters body: (_) @body
  (#set! prefix "operator")) @function
(conversion_operator_declaration type: (_) @name parameters: (_) @parameters body: (_) @body
  (#set! prefix "operator ")) @function
(local_function_statement name: (_) @name parameters: (_) @parameters body: (_) @body) @function

; Accessors are called by their property.
(property_declaration name: (_) @name accessors: (accessor_list
  (accessor_declaration name: _ @suffix body: (_) @body) @function))
(property_declaration name: (_) @name value: (arrow_expression_clause) @body
  (#set! suffix "get")) @function
(indexer_declaration parameters: (_) @parameters accessors: (accessor_list
  (accessor_declaration name: _ @suffix body: (_) @body) @function)
  (#set! name "this"))
(indexer_declaration parameters: (_) @parameters value: (_) @body
  (#set! name "this") (#set! suffix "get")) @function
(event_declaration name: (_) @name accessors: (accessor_list
  (accessor_declaration name: _ @suffix body: (_) @body) @function))

(field_declaration (variable_declaration (variable_declarator name: (_) @name
  (lambda_expression parameters: (_) @parameters body: (_) @body)))
  (#set! closure "yes")) @function

(class_declaration name: (_) @scope.name) @scope
(struct_declaration name: (_) @scope.name) @scope
(interface_declaration name: (_) @scope.name) @scope
(record_declaration name: (_) @scope.name) @scope
(enum_declaration name: (_) @scope.name) @scope
