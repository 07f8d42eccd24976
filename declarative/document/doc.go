// Package document reads declarative manifests.
//
// Parse reads the YAML text, resolves references, propagates parameters, adds default types and builds typed
// components. A problem has a path and a sentence with the fix. A component that is not supported, or a template that
// does not compile, disables its stream and leaves the others usable. The package performs no I/O.
package document
