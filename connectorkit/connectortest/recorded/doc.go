// Package recorded is the first tier of a connector's tests. It runs the connector on
// answers that were recorded from its provider: without a network, without a simulator,
// in virtual time.
//
// A test of a connector is one line:
//
//	func TestRecorded(t *testing.T) { recorded.Run(t, lanternmail.Connector(), "testdata/recorded.json") }
//
// The recording is made once, with the connector's variables in the environment and an
// account with content that may be published:
//
//	LANTERNMAIL_TOKEN=... go test ./connectors/lanternmail -run TestRecorded -record
//
// What is written holds no request header. The value of every variable that the
// manifest calls secret is replaced everywhere, and so is the value of every
// parameter, form field and JSON member that is named like a credential. The content
// itself is kept as it came: read the file before it is published.
//
// Both the recording and the test make two runs, the second with the bookmarks of the
// first. A request is found again by its method, address and body; several answers to
// one request are replayed in their recorded order. A request that was not recorded
// ends the test with its address.
package recorded
