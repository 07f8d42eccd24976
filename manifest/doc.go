// Package manifest is what a connector declares before it ever runs: its
// streams and how completely they are meant to be collected, the bindings and
// variables it needs, how it is set up, and how often refreshing it makes sense.
//
// A program asks the Manifest what follows from the document: Stream and DetailStreams
// find streams, EnvNames, CredentialEnv and SecretEnv name the variables,
// CompileSchemas gives what records are judged by, RefreshPolicy how often to refresh.
//
// Parse checks what it knows. A document that is JSON but breaks a rule is refused
// with Problems, which lists every fault at once; each names its path and how to mend
// it. What it does not know it leaves out, and Inspect tells it as warnings.
// Validate applies the same rules to a manifest that was built in Go.
//
// The struct tags are the single description of the document's shape: json names
// the key, rule holds its limits, doc explains it. The decoder, the validator
// and JSONSchema all read those tags and the enum lists, so they cannot differ.
// Rules that span several keys live in the check functions and are not part of
// the JSON Schema.
//
// The package is pure: it reads no clock, does no I/O, starts no goroutine and
// logs nothing. Compiling a record schema never fetches a document.
package manifest

//go:generate go test . -run ^TestSchemaFile$ -update
