; Functions of PHP.

(function_definition name: (_) @name parameters: (_) @parameters body: (_) @body) @function
(method_declaration name: (_) @name parameters: (_) @parameters body: (_) @body) @function
(property_declaration (property_element name: (variable_name (name) @name))
  (property_hook_list (property_hook (name) @suffix body: (_) @body) @function))

(assignment_expression left: (variable_name (name) @name)
  right: [(anonymous_function parameters: (_) @parameters body: (_) @body)
          (arrow_function parameters: (_) @parameters body: (_) @body)]
  (#set! closure "yes")) @function

(class_declaration name: (_) @scope.name) @scope
(trait_declaration name: (_) @scope.name) @scope
(interface_declaration name: (_) @scope.name) @scope
(enum_declaration name: (_) @scope.name) @scope

(anonymous_class) @anonymous

(use_as_clause (_) @target (name) @name .) @alias
