package carddav

import (
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit/dav"
)

func TestCards(t *testing.T) {
	here := dav.Collection{Path: "/u/book/"}
	for name, c := range map[string]struct {
		text string
		want contactRecord
	}{
		"Apple's": {"BEGIN:VCARD\r\nVERSION:3.0\r\nUID:1\r\nN:Ruiz;Ana;María;Dr.;\r\nFN:Dr. Ana Ruiz\r\n" +
			"item1.EMAIL;type=INTERNET;type=pref:ana@example.org\r\nitem1.X-ABLabel:_$!<Other>!$_\r\n" +
			"BDAY;X-APPLE-OMIT-YEAR=1604:1604-05-06\r\nPHOTO;ENCODING=b:AAAA\r\nORG:Example\\; Inc.;Sales\r\n" +
			"REV:2026-02-01T10:00:00Z\r\nEND:VCARD\r\n",
			contactRecord{UID: "1", Kind: "individual", FullName: "Dr. Ana Ruiz", Given: "Ana", Family: "Ruiz",
				Additional: "María", Prefix: "Dr.",
				Emails: []labelledEntry{{Value: "ana@example.org", Label: "Other", Preferred: true}}, Birthday: "--05-06",
				HasPhoto:     true,
				Organization: "Example; Inc.", Department: "Sales", UpdatedAt: "2026-02-01T10:00:00Z"}},
		"version 2.1": {"BEGIN:VCARD\r\nVERSION:2.1\r\nUID:2\r\nN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=BCller;" +
			"Mira\r\nTEL;CELL;PREF:7\r\nADR;HOME:;;Main 1;Bern;;3000;CH\r\nEND:VCARD",
			contactRecord{UID: "2", Kind: "individual", FullName: "Mira Müller", Given: "Mira", Family: "Müller",
				Phones: []labelledEntry{{Value: "7", Types: []string{"cell"}, Preferred: true}},
				Addresses: []postalAddress{{Street: "Main 1", Locality: "Bern", Postcode: "3000", Country: "CH",
					Types: []string{"home"}}}}},
		"a group of version 4.0": {"BEGIN:VCARD\nVERSION:4.0\nUID:urn:uuid:3\nKIND:group\nFN:Choir\nMEMBER:urn:uuid:1\nME" +
			"MBER:urn:uuid:2\nCATEGORIES:a,b\nBDAY:--0506\nTEL;VALUE=uri;PREF=1:tel:+1\n",
			contactRecord{UID: "3", Kind: "group", FullName: "Choir", Members: []string{"1", "2"},
				Categories: []string{"a", "b"}, Birthday: "--05-06", Phones: []labelledEntry{{Value: "+1", Preferred: true}}}},
	} {
		t.Run(name, func(t *testing.T) {
			things, ok := contactsFromObject(here, dav.Object{Path: "/u/book/x.vcf", Text: []byte(c.text)})
			if !ok || len(things) != 1 {
				t.Fatalf("%d things, %v", len(things), ok)
			}
			c.want.ID, c.want.AddressBookID = dav.RecordKey(here.Path, c.want.UID), here.Path
			if got := things[0].Data.(contactRecord); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
	if _, ok := contactsFromObject(here, dav.Object{Text: []byte("<html>")}); ok {
		t.Error("a page is read as a card")
	}
}

func FuzzContacts(f *testing.F) {
	f.Add([]byte("BEGIN:VCARD\nN:;;;;;;;\nADR:\nORG:;\nBDAY:9\nX-ABLABEL:_$!<\nEND:VCARD\nBEGIN:VCARD\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		things, _ := contactsFromObject(dav.Collection{Path: "/u/"}, dav.Object{Path: "/u/x", Text: text})
		keys := map[string]bool{}
		for _, thing := range things {
			if _, err := json.Marshal(thing.Data); err != nil || keys[thing.Key] {
				t.Fatalf("thing %+v: %v", thing, err)
			}
			keys[thing.Key] = true
		}
	})
}
