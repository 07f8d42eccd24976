package catalog

import (
	"context"
	"encoding/json"
)

// Kinds of enforcement, as the host program reports them.
const (
	heldByNamespace = "namespace"
	heldByPort      = "port"
)

// Network returns in one sentence what a foreign connector reaches over the network. For a wrapped program, held
// reports whether the proxy is its only way out; the sentence names the reason if it is not.
func (c Connector) Network(ctx context.Context) (words string, held bool) {
	if c.Starts == "" {
		return "Every address that this machine reaches.", false
	}
	if c.Declared {
		return "Only its hosts: PDPP makes the requests itself.", true
	}
	var by struct{ By, Reason string }
	kept, _ := hosts.LoadOrStore(c.Path, &hostCache{})
	content, err := kept.(*hostCache).runHost(ctx, c.Path, "confined", "report", c.Starts)
	if err == nil {
		err = json.Unmarshal(content, &by)
	}
	switch {
	case err != nil:
		return "Its hosts through a proxy. Whether anything keeps it from other addresses is not known: " + err.Error() + ".",
			false
	case by.By == heldByNamespace:
		return "Only its hosts, through a proxy that is its only way out.", true
	case by.By == heldByPort:
		return "Its hosts through a proxy. A program that is written to do so also reaches other machines at the proxy's " +
			"port, unseen: " + by.Reason + ".", false
	default:
		return "Its hosts through a proxy, and every other address if it passes the proxy by: " + by.Reason + ".", false
	}
}
