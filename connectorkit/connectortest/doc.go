// Package connectortest is the conformance suite that every connector passes.
//
// It runs the connector's real executable under the real runner into a real
// SQLite store, against a simulated provider that knows what exists. After
// every scenario the ground truth must equal what is stored plus what is
// declared missing: nothing lost, nothing invented, nothing twice.
//
// A connector's whole test is a Target and a call to Run. A connector of another repository is tested alike: Installed
// returns the one in a folder, and providersim has what its simulated provider needs.
package connectortest
