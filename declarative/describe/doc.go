// Package describe states what a declarative document would do before it runs: which streams it collects and which it
// cannot, the hosts it talks to, the settings it asks for, where secrets go, and whether it sends POST requests. It
// also generates the connector manifest. The package performs no I/O.
package describe
