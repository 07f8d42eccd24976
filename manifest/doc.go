// Package manifest parses and validates the declaration of a connector: its streams and their intended coverage,
// the bindings and variables that it needs, its setup, and its refresh policy.
//
// The Manifest answers questions about the document: Stream and DetailStreams find streams, EnvNames,
// CredentialEnv and SecretEnv list variables, CompileSchemas returns the schemas of records, and RefreshPolicy
// returns how often to refresh.
//
// Parse returns Problems for a document that violates rules. Problems lists every problem with its path and its
// fix. Parse ignores unknown parts; Inspect returns them as warnings. Validate applies the same rules to a
// manifest that was built in Go.
//
// The struct tags are the only description of the document's shape: json names the key, rule contains its limits,
// doc explains it. The decoder, the validator and JSONSchema all use these tags and the enum lists, so they
// cannot differ. The check functions contain the rules about several keys, which are not part of the JSON Schema.
//
// The package is pure: it reads no clock, does no I/O, starts no goroutine and logs nothing. Compiling a record
// schema never fetches a document.
package manifest

//go:generate go test . -run ^TestSchemaFile$ -update
