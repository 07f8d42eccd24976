package realserver

import (
	"encoding/json"

	"github.com/pdpp-go/pdpp/providersim"
)

// GroundTruth is what a server holds, by stream and key, as a test compares it.
func GroundTruth(all map[string]map[string]json.RawMessage) providersim.Truth {
	truth := providersim.Truth{}
	for stream, records := range all {
		truth[stream] = map[string]providersim.Item{}
		for key, data := range records {
			truth[stream][key] = providersim.Item{Data: data}
		}
	}
	return truth
}
