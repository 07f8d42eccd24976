// Package foreigntest lets connectors in other languages, written as an outsider writes
// them, run under the shipped parts: the catalog that finds them, the limits that hold
// them, the runner, the launcher, the store, and the verdict that the owner reads.
//
// The package has no code but tests. Its connectors are in testdata: some do their work,
// and some make the mistakes that such connectors make.
package foreigntest
