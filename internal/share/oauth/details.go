package oauth

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/share/grants"
)

// authorizationDetail is what an app asks for, and what a grant allows (RFC 9396).
type authorizationDetail struct {
	Type    string           `json:"type" enum:"pdpp"`
	Purpose string           `json:"purpose,omitempty"`
	Mode    string           `json:"access_mode,omitempty" enum:"single_use,continuous"`
	Expires *time.Time       `json:"expires_at,omitempty"`
	Streams []detailedStream `json:"streams"`
}

// detailedStream names a stream. An app that does not know the owner's connections
// names a connector, or neither.
type detailedStream struct {
	Name       string   `json:"name,omitempty"`
	Profile    string   `json:"profile,omitempty"` // of the connector, instead of a name
	Connection string   `json:"connection_id,omitempty"`
	Connector  string   `json:"connector_id,omitempty"`
	Fields     []string `json:"fields,omitempty"`
	View       string   `json:"view,omitempty"` // declared fields, beside those that are named
	Resources  []string `json:"resources,omitempty"`
	// the field that resources are values of; returned, not requested
	Field string     `json:"resource_field,omitempty"`
	Range *timeRange `json:"time_range,omitempty"`
}

type timeRange struct {
	Since *time.Time `json:"since,omitempty"`
	Until *time.Time `json:"until,omitempty"` // not included
}

// parseDetails reads the one element that we know. A member that is not known could be a
// limit that we would not keep, and is refused.
func parseDetails(text string) (authorizationDetail, error) {
	refused := grants.Refused(grants.CodeInvalidDetails, "authorization_details",
		`The authorization details are not a list of one object of type "pdpp" with streams.`, "Correct them.")
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	var list []authorizationDetail
	if d.Decode(&list) != nil || len(list) != 1 || list[0].Type != detailsType {
		return authorizationDetail{}, refused
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return authorizationDetail{}, refused
	}
	return list[0], nil
}

func (d authorizationDetail) wants() []grants.Want {
	wants := make([]grants.Want, len(d.Streams))
	for i, s := range d.Streams {
		wants[i] = grants.Want{Connector: s.Connector, Profile: s.Profile, Stream: grants.Stream{
			ConnectionID: s.Connection, Stream: s.Name, Fields: s.Fields, Resources: s.Resources,
		}}
		if s.View != "" {
			wants[i].Fields = append(slices.Clone(s.Fields), grants.ViewMark+s.View)
		}
		if s.Range != nil {
			wants[i].Since, wants[i].Until = s.Range.Since, s.Range.Until
		}
	}
	return wants
}

// detailsOf returns what an app was granted.
func detailsOf(g grants.Grant) []authorizationDetail {
	d := authorizationDetail{Type: detailsType, Purpose: g.Purpose, Mode: string(g.Mode), Expires: g.ExpiresAt}
	for _, s := range g.Scope {
		stream := detailedStream{Name: s.Stream, Connection: s.ConnectionID, Fields: s.Fields, Resources: s.Resources,
			Field: s.ResourceField}
		if s.Since != nil || s.Until != nil {
			stream.Range = &timeRange{s.Since, s.Until}
		}
		d.Streams = append(d.Streams, stream)
	}
	return []authorizationDetail{d}
}
