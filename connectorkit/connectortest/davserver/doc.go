// Package davserver runs Radicale, Xandikos and StartDAViCal, servers of calendars and address books
// of other projects, for the tests of connectors. They are filled and changed through
// their own interface. What exists is read from their files and database, by parsers of others.
//
//	server.go   the programs
//	davical.go  the one with a database
//	account.go  a person's place on a server, with faults in front of it
//	mutate.go   what happens there
//	data.go     what is put there
//	truth.go    what is on the disk
//	suite.go    what each connector to them is held to
package davserver
