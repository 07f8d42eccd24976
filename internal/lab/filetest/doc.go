// Package filetest follows the files of records from where they come from to whoever reads them: a
// real mail server or a device at one end, a grant, the console and the command line at the other,
// and the shipped programs between them. What is read is held against the files of the mail server.
//
// The package has no code of its own.
package filetest
