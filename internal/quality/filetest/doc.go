// Package filetest follows the files of records from their source to their readers, through the
// shipped programs. The source is a real mail server or a device. The readers are a grant, the
// console and the command line. The tests compare the result with the files of the mail server.
//
// The package has no code of its own.
package filetest
