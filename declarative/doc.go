// Package declarative makes connectors of files that declare a source.
//
// DescribeFile reads a file and describes what it would do. Wrap writes the folder of a connector, which
// pdpp-connectors runs with Load.
package declarative
