package scheduler

import (
	"context"
	"slices"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// Capability is what a machine needs to run a connector. Each has a queue of its name, and a worker serves the queues
// of its capabilities.
type Capability string

const (
	Network Capability = "network"
	Browser Capability = "browser"
	Local   Capability = "local" // files of this machine
)

// Capabilities lists all of them.
var Capabilities = []Capability{Network, Browser, Local}

// requiredCapability returns the scarcest capability that a connector needs: browser before files before network.
func requiredCapability(m *manifest.Manifest) Capability {
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

// capabilityCache looks up what connectors need in the stored manifests, each read once. A worker need not have
// installed the connectors that it queues.
type capabilityCache struct {
	store store.Connections
	known map[string]Capability
}

func (d *capabilityCache) needs(ctx context.Context, connectorID string) Capability {
	if found, ok := d.known[connectorID]; ok {
		return found
	}
	found := Network // a worker with this capability reports what is wrong
	if body, _, err := d.store.Manifest(ctx, connectorID); err == nil {
		if m, err := manifest.Parse(body); err == nil {
			found = requiredCapability(m)
		}
	}
	if d.known == nil {
		d.known = map[string]Capability{}
	}
	d.known[connectorID] = found
	return found
}
