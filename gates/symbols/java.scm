; Functions of Java.

(method_declaration name: (_) @name parameters: (_) @parameters body: (_) @body) @function
(constructor_declaration name: (_) @name parameters: (_) @parameters body: (_) @body) @function
(compact_constructor_declaration name: (_) @name body: (_) @body) @function
; The parameters of a record are its constructor.
(record_declaration name: (_) @name parameters: (_) @parameters (#set! header "yes")) @function
(field_declaration declarator: (variable_declarator name: (_) @name
  value: (lambda_expression parameters: (_) @parameters body: (_) @body))
  (#set! closure "yes")) @function

(class_declaration name: (_) @scope.name) @scope
(interface_declaration name: (_) @scope.name) @scope
(enum_declaration name: (_) @scope.name) @scope
(record_declaration name: (_) @scope.name) @scope
(annotation_type_declaration name: (_) @scope.name) @scope
(enum_constant name: (_) @scope.name body: (_)) @scope

; The methods of a class without a name. One alone is a callback.
(object_creation_expression (class_body) @anonymous)
(object_creation_expression (class_body . (method_declaration) @callback .))
