// Package tryout runs a source file against a provider that is generated from it.
//
// Run invents settings, starts the provider on a loopback address, runs every stream twice as a runner does, and
// compares the records with those of the provider. Nothing leaves the machine and nothing is stored.
package tryout
