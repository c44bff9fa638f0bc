; Functions of C.

(function_definition declarator: (_) @declarator body: (_) @body) @function

(preproc_if condition: (number_literal) @c (#eq? @c "0")) @ignore
(preproc_if alternative: (_) @keep)

(preproc_def name: (_) @name value: (_) @target) @alias
