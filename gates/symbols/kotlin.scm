; Functions of Kotlin.

(function_declaration name: (_) @name (function_value_parameters) @parameters (function_body) @body) @function
; An extension is called by what it extends.
(function_declaration [(user_type) (nullable_type)] @container . name: (_) @name
  (function_value_parameters) @parameters (function_body) @body) @function
(property_declaration [(user_type) (nullable_type)] @container . (variable_declaration (identifier) @name)
  (getter (function_body) @body) @function
  (#set! suffix "get"))
(secondary_constructor (function_value_parameters) @parameters (block) @body
  (#set! name "constructor")) @function
; The parameters of a class are its constructor.
(class_declaration name: (_) @name (primary_constructor) @parameters (#set! header "yes")) @function
(class_declaration (primary_constructor) @parameters
  (#set! name "constructor") (#set! header "yes")) @function
(property_declaration (variable_declaration (identifier) @name)
  (getter (function_body) @body) @function
  (#set! suffix "get"))
(property_declaration (variable_declaration (identifier) @name)
  (setter (function_body) @body) @function
  (#set! suffix "set"))
(property_declaration (variable_declaration (identifier) @name) [(lambda_literal) (anonymous_function)] @body
  (#set! closure "yes")) @function

(class_declaration name: (_) @scope.name) @scope
(object_declaration name: (_) @scope.name) @scope
(companion_object name: (_) @scope.name) @scope
(companion_object !name
  (#set! name "Companion")) @scope
(enum_entry (identifier) @scope.name (class_body)) @scope

; The functions of an object without a name. One alone is a callback.
(object_literal) @anonymous
(object_literal (class_body . (function_declaration) @callback .))
