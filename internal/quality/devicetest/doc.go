// Package devicetest torments a device and its server: the shipped programs, both kinds of
// database, SIGKILLs of either, and a network in between that breaks off, goes silent and
// lets strangers answer.
package devicetest
