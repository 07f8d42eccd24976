// Package expression compiles and evaluates the template language of declarative sources.
//
// A template is text with {{ expressions }}, {% statements %} and {# comments #}. Its rules are those of Jinja and of
// Python, as far as manifests use them: truth, operators, printing, and reading the printed text back as a literal.
// Compile finds unknown names; Template.Value, Template.Bool and Template.Entry evaluate. The package performs no I/O,
// reads no clock and calls nothing but the functions, filters, tests and methods in its own tables.
//
// Every template has bounds: its length, the steps of one evaluation and the size of a result.
package expression
