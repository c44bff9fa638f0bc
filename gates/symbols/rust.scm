; Functions of Rust.

(function_item name: (_) @name parameters: (_) @parameters body: (_) @body) @function

(const_item name: (_) @name value: (closure_expression parameters: (_) @parameters body: (_) @body)
  (#set! closure "yes")) @function
(static_item name: (_) @name value: (closure_expression parameters: (_) @parameters body: (_) @body)
  (#set! closure "yes")) @function

; A function in the arguments of a macro is a list of tokens there.
(token_tree "fn" @function . (identifier) @name)

(impl_item type: (_) @scope.name) @scope
(trait_item name: (_) @scope.name) @scope
(mod_item name: (_) @scope.name body: (_)) @scope

(macro_definition) @ignore

(use_as_clause path: (_) @target alias: (_) @name) @alias
