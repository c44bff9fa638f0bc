; Functions of Ruby.

(method name: (_) @name parameters: (_)? @parameters body: (_)? @body) @function
(singleton_method object: (_) @container name: (_) @name parameters: (_)? @parameters body: (_)? @body) @function

(call !receiver method: (identifier) @m arguments: (argument_list . [(simple_symbol) (string)] @name)
  block: (_ parameters: (_)? @parameters body: (_)? @body)
  (#any-of? @m "define_method" "define_singleton_method")) @function

; A method that reads or sets a variable alone takes the place of one that is written out.
(call !receiver method: (identifier) @m arguments: (argument_list [(simple_symbol) (string)] @name)
  (#any-of? @m "attr_reader" "attr_accessor")
  (#set! header "yes")) @function
(call !receiver method: (identifier) @m arguments: (argument_list [(simple_symbol) (string)] @name)
  (#any-of? @m "attr_writer" "attr_accessor")
  (#set! header "yes") (#set! ending "=")) @function

; A method for each name of a list.
(call receiver: [(array [(simple_symbol) (string)] @name) (symbol_array (bare_symbol) @name) (string_array (bare_string) @name)]
  method: (identifier) @each (#eq? @each "each")
  block: (_ parameters: (block_parameters . (identifier) @parameter .)
    body: (_ (call !receiver method: (identifier) @m arguments: (argument_list . (identifier) @argument)
      block: (_ parameters: (_)? @parameters body: (_)? @body)) @function
      (#eq? @m "define_method"))))

(assignment left: [(constant) (identifier)] @name right: (lambda parameters: (_)? @parameters body: (_ body: (_) @body))
  (#set! closure "yes")) @function
(assignment left: [(constant) (identifier)] @name
  right: (call !arguments method: (identifier) @m block: (_ parameters: (_)? @parameters body: (_) @body)
    (#any-of? @m "lambda" "proc"))
  (#set! closure "yes")) @function

(class name: (_) @scope.name) @scope
(module name: (_) @scope.name) @scope
(assignment left: (constant) @scope.name
  right: (call receiver: (constant) @c (#any-of? @c "Struct" "Class" "Module" "Data") block: (_))) @scope

(alias name: (_) @name alias: (_) @target) @alias
(call method: (identifier) @m arguments: (argument_list . (_) @name . (_) @target)
  (#any-of? @m "alias_method" "def_delegator")) @alias
