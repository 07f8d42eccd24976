package googlecalendar

import (
	"context"
	"net/url"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/googleapi"
	"github.com/pdpp-go/pdpp/protocol"
)

// pageSize is how many events become durable at once; Google gives up to 2,500.
const pageSize = "1000"

// events reads a page of a calendar. A series comes as it is written, with an event for each occurrence that was
// changed or does not take place: both are what Google gives unless it is asked for something else.
func (a *api) events(ctx context.Context, ask googleapi.Ask) (googleapi.Answer, error) {
	q := url.Values{"maxResults": {pageSize}}
	if ask.Since != "" {
		q.Set("syncToken", ask.Since)
	}
	if ask.Page != "" {
		q.Set("pageToken", ask.Page)
	}
	var wire struct {
		Items *[]jsontext.Value `json:"items"`
		Next  string            `json:"nextPageToken"`
		Since string            `json:"nextSyncToken"`
	}
	if err := a.get(ctx, "calendars/"+url.PathEscape(ask.List)+"/events", q, &wire); err != nil {
		return googleapi.Answer{}, err
	}
	if wire.Items == nil {
		return googleapi.Answer{}, connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	out := googleapi.Answer{Next: wire.Next, Since: wire.Since}
	for _, raw := range *wire.Items {
		out.Things = append(out.Things, readEvent(ask.List, raw))
	}
	return out, nil
}

// eventKey names an event: the same meeting stands under the same id in the calendars of all who take part.
func eventKey(calendar, id string) string { return protocol.CompoundKey(calendar, id) }
