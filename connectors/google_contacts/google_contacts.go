// Package googlecontacts collects a person's contacts from the Google People API.
//
//	manifest.json        what it declares: streams, schemas, the sign-in
//	google_contacts.go   where people and labels are
//	map.go               how one person becomes one record
//	groups.go            the members of labels, compared with Google's own count
//
// connectorkit/googleapi handles Google's refusals.
package googlecontacts

import (
	_ "embed"
	"net/url"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/googleapi"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Google Contacts connector.
func Connector() connectorkit.Connector { return rest.MustNew(manifestJSON, source) }

const (
	savedFields = "addresses,biographies,birthdays,calendarUrls,clientData,emailAddresses,events,externalIds,fileAses," +
		"genders,imClients,interests,locales,locations,memberships,metadata,miscKeywords,names,nicknames,occupations," +
		"organizations,phoneNumbers,photos,relations,sipAddresses,skills,urls,userDefined"
	otherFields = "emailAddresses,metadata,names,phoneNumbers"
	// maxPageSize is the largest page that Google serves.
	maxPageSize = "1000"
)

var source = rest.Source{
	BaseURL: "https://people.googleapis.com/v1",
	Auth:    rest.AccessToken("GOOGLE_CONTACTS_ACCESS_TOKEN"),
	// Google counts what a project asks for one person.
	QuotaOf: []string{"GOOGLE_OAUTH_CLIENT_ID"}, PerAccount: true,
	// Google may withhold the account, because the sign-in only covers contacts.
	Account: &rest.Lookup{Request: rest.Request{Path: "people/me", Query: url.Values{"personFields": {"metadata"}}},
		Member: "resourceName", Optional: true},
	Errors: googleapi.ErrorRules("People API"),
	Streams: []rest.Stream{
		countingMembers(people("contacts", "people/me/connections", "connections", "totalPeople", "personFields",
			savedFields)),
		{
			Name: "groups", Items: "contactGroups", Pages: pages, OmitEmpty: true,
			Request: rest.Request{Path: "contactGroups",
				Query: url.Values{"pageSize": {maxPageSize}, "groupFields": {"groupType,memberCount,name"}}},
			Fields: rest.Fields{
				"id": rest.From("resourceName"), "name": rest.From("formattedName", "name"),
				"kind": rest.From("groupType").Translated(map[string]string{"USER_CONTACT_GROUP": "own",
					"SYSTEM_CONTACT_GROUP": "system"}),
				"member_count": rest.Computed(comparedCount),
			},
		},
		people("other_contacts", "otherContacts", "otherContacts", "totalSize", "readMask", otherFields),
	},
}

var pages = rest.NextToken{Param: "pageToken", Member: "nextPageToken"}

// people is a list of people, with the parameter that names the fields of each. Google requires the same parameters
// for a page token as for its first page, and leaves an empty list out.
func people(stream, path, member, total, mask, fields string) rest.Stream {
	return rest.Stream{
		Name: stream, Pages: pages, Total: total,
		Request: rest.Request{Path: path,
			Query: url.Values{mask: {fields}, "pageSize": {maxPageSize}, "requestSyncToken": {"true"}}},
		Partitions: rest.Values("list", member),
		Select: func(a *rest.Answer) ([]jsontext.Value, error) {
			if a.Member(member) == nil && a.Text("nextPageToken")+a.Text("nextSyncToken") != "" {
				return nil, nil
			}
			return rest.FirstList(member)(a)
		},
		Read: func(i rest.Item) rest.Row { return readPerson(i.Raw, nil) },
		Sync: rest.ChangeTokens{Param: "syncToken", Member: "nextSyncToken"},
	}
}
