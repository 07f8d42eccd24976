// Package disk reports how much space is left on the file systems that hold data.
package disk

// Full is the free space below which a disk counts as full: what is left is needed to end what is under way.
const Full = 100 << 20
