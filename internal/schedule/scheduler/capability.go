package scheduler

import (
	"context"
	"slices"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// Capability is what a machine needs to run a connector. Each has a queue of its
// name, and a worker takes from the queues of what it has.
type Capability string

const (
	Network Capability = "network"
	Browser Capability = "browser"
	Local   Capability = "local" // files of this machine
)

// Capabilities lists all of them.
var Capabilities = []Capability{Network, Browser, Local}

// needs is what a connector needs most: a browser is scarcer than files, files
// are scarcer than the network.
func needs(m *manifest.Manifest) Capability {
	required := m.RequiredBindings()
	switch {
	case slices.Contains(required, manifest.BindingBrowser):
		return Browser
	case slices.Contains(required, manifest.BindingFilesystem), slices.Contains(required, manifest.BindingLocalDevice):
		return Local
	default:
		return Network
	}
}

// declared answers what connectors need by the manifests that the store has,
// each read once: a worker need not have installed what it puts into the queue.
type declared struct {
	store store.Connections
	known map[string]Capability
}

func (d *declared) needs(ctx context.Context, connectorID string) Capability {
	if found, ok := d.known[connectorID]; ok {
		return found
	}
	found := Network // where a worker finds out what is wrong with it
	if body, _, err := d.store.Manifest(ctx, connectorID); err == nil {
		if m, err := manifest.Parse(body); err == nil {
			found = needs(m)
		}
	}
	if d.known == nil {
		d.known = map[string]Capability{}
	}
	d.known[connectorID] = found
	return found
}
