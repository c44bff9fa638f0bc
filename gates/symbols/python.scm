; Functions of Python.

(function_definition name: (_) @name parameters: (_) @parameters body: (_) @body) @function

(assignment left: (identifier) @name right: (lambda parameters: (_)? @parameters body: (_) @body)
  (#set! closure "yes")) @function

; The accessors of a property share its name.
(decorated_definition
  (decorator [(identifier) (attribute)] @suffix
    (#any-of? @suffix "property" "cached_property" "functools.cached_property"))
  definition: (function_definition) @suffixed
  (#set! suffix "get"))
(decorated_definition
  (decorator (attribute attribute: (identifier) @suffix (#any-of? @suffix "setter" "deleter")))
  definition: (function_definition) @suffixed
  (#set! suffix "set"))

; Declarations: what a type checker alone reads.
(decorated_definition
  (decorator [(identifier) (attribute)] @d (#match? @d "(^|\\.)(overload|abstractmethod)$"))
  definition: (function_definition) @declaration)

(class_definition name: (_) @scope.name) @scope

(assignment left: (identifier) @name right: [(identifier) (attribute)] @target) @alias
(import_from_statement name: (aliased_import name: (_) @target alias: (_) @name)) @alias
