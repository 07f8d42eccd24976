// Package disk says how much space is left where things are kept.
package disk
