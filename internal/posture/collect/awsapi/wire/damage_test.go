package wire

import (
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vigil/internal/posture/collect/awsapi/awsapitest"
	"vigil/internal/posture/collect/awsapi/model"
)

// protocols are those that our own decoders read.
var protocols = []string{model.RestXML, model.Query, model.EC2, model.RestJSON, model.JSON}

// TestDamagedResponsesMatchReference compares our decoders with those of smithy-go on responses
// with a few wrong bytes. AWSAPI_EXECUTIONS sets the number of responses and AWSAPI_SEED the
// seed.
func TestDamagedResponsesMatchReference(t *testing.T) {
	t.Parallel()
	executions, seed := int64(4000), uint64(1)
	if n, err := strconv.ParseInt(os.Getenv("AWSAPI_EXECUTIONS"), 10, 64); err == nil {
		executions = n
	}
	if n, err := strconv.ParseUint(os.Getenv("AWSAPI_SEED"), 10, 64); err == nil {
		seed = n
	}
	var done, failed atomic.Int64
	var wait sync.WaitGroup
	for worker := range runtime.GOMAXPROCS(0) {
		var pairs []pair
		for _, protocol := range protocols {
			pairs = append(pairs, newPair(t, protocol))
		}
		wait.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(worker)))
			for failed.Load() < 5 {
				p := pairs[random.IntN(len(pairs))]
				maker := awsapitest.New(random.Uint64())
				maker.Sparse = true
				_, intact := awsapitest.Answer(p.decoder.op, maker.Output(p.decoder.op))
				// Each response is damaged in many ways because generating one takes longer
				// than decoding it.
				for range 50 {
					if done.Add(1) > executions {
						return
					}
					damage := make([]byte, damageSize*random.IntN(5))
					for i := range damage {
						damage[i] = byte(random.Uint32())
					}
					for i := damageSize - 1; i < len(damage); i += damageSize { // the new bytes
						damage[i] = suspicious[random.IntN(len(suspicious))]
					}
					body := applyDamage(append([]byte(nil), intact...), damage)
					if difference := compare(p.decoder, p.reference, body); difference != "" {
						failed.Add(1)
						t.Errorf("%s: %s\n%q", p.decoder.op.Service.Protocol, difference, body)
					}
				}
			}
		})
	}
	wait.Wait()
	t.Logf("%d responses", min(done.Load(), executions))
}

// suspicious are bytes with a meaning for parsers, and some without.
var suspicious = []byte("<>/&;#x!-[]?='\":{},\\ \t\r\n\x00\x01\x7f\x80\xc3\xff0129aeE+.tfnNI_z")

// TestTruncatedResponsesAreErrors cuts a correct response at every byte.
func TestTruncatedResponsesAreErrors(t *testing.T) {
	t.Parallel()
	for _, protocol := range protocols {
		p := newPair(t, protocol)
		maker := awsapitest.New(5)
		maker.Sparse = true
		_, body := awsapitest.Answer(p.decoder.op, maker.Output(p.decoder.op))
		for n := 1; n < len(body); n++ {
			if got, err := p.decoder.Decode(200, nil, body[:n]); err == nil {
				t.Fatalf("%s: %d of %d bytes are read as %s", protocol, n, len(body), got)
			}
		}
		if _, err := p.decoder.Decode(200, nil, body); err != nil {
			t.Errorf("%s: the complete response is rejected: %v", protocol, err)
		}
	}
}

// TestHostileResponsesAreErrors checks that invalid responses fail, in particular those that aim
// at unbounded memory or time, or at reading files. None may take long.
func TestHostileResponsesAreErrors(t *testing.T) {
	t.Parallel()
	deep := func(open, end string, n int) []byte {
		b := make([]byte, 0, n*(len(open)+len(end))+16)
		for range n {
			b = append(b, open...)
		}
		for range n {
			b = append(b, end...)
		}
		return b
	}
	inXML, inJSON := newPair(t, model.RestXML), newPair(t, model.RestJSON)
	for name, tt := range map[string]struct {
		p    pair
		body []byte
	}{
		"nested entities":                {inXML, []byte(`<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><r><Text>&b;</Text></r>`)},
		"a file":                         {inXML, []byte(`<!DOCTYPE r [<!ENTITY f SYSTEM "file:///etc/passwd">]><r><Text>&f;</Text></r>`)},
		"an unknown entity":              {inXML, []byte(`<r><Text>&nbsp;</Text></r>`)},
		"deep elements":                  {inXML, append(append([]byte("<r>"), deep("<In>", "</In>", 1<<20)...), "</r>"...)},
		"deep unknown elements":          {inXML, append(append([]byte("<r>"), deep("<x>", "</x>", 1<<20)...), "</r>"...)},
		"deep arrays":                    {inJSON, append(append([]byte(`{"x":`), deep("[", "]", 1<<20)...), '}')},
		"deep objects":                   {inJSON, []byte(`{"In":` + string(deep(`{"self":`, "}", 1<<18)) + `}`)},
		"two roots":                      {inXML, []byte(`<r/><r/>`)},
		"an invalid character reference": {inXML, []byte(`<r><Text>&#x110000;</Text></r>`)},
		"another encoding":               {inXML, []byte(`<?xml version="1.0" encoding="UTF-16"?><r/>`)},
		"invalid UTF-8":                  {inXML, []byte("<r><Text>\xff\xfe</Text></r>")},
		"a control character":            {inXML, []byte("<r><Text>\x00</Text></r>")},
		"tags that cross":                {inXML, []byte(`<r><In><id></In></id></r>`)},
		"a number too large":             {inXML, []byte(`<r><Whole>2147483648</Whole></r>`)},
		"a year too large":               {inJSON, []byte(`{"Epoch":1e300}`)},
		"too much":                       {inJSON, append(make([]byte, MaxSize), "{}"...)},
	} {
		start := time.Now()
		if got, err := tt.p.decoder.Decode(200, nil, tt.body); err == nil {
			t.Errorf("%s is read as %.100s", name, got)
		}
		if elapsed := time.Since(start); elapsed > 30*time.Second {
			t.Errorf("%s took %v", name, elapsed)
		}
	}
}

// TestRepeatedMembers decodes members and keys that are repeated: lists are joined and maps
// merged; for other types the last value that is not null is used.
func TestRepeatedMembers(t *testing.T) {
	t.Parallel()
	inXML, inJSON := newPair(t, model.RestXML), newPair(t, model.RestJSON)
	for _, tt := range []struct {
		p          pair
		body, want string
	}{
		{inXML, `<r><Text>a</Text><Flat>1</Flat><Text>b</Text><Flat>2</Flat></r>`, `{"Text":"b","FlatTexts":["1","2"]}`},
		{inXML, `<r><Texts><i>1</i></Texts><Texts/><Texts><i>2</i></Texts></r>`, `{"Texts":["1","2"]}`},
		{inXML, `<r><FlatMap><key>k</key><value>1</value></FlatMap><Flag>1</Flag><FlatMap><key>k</key><value>2</value></FlatMap></r>`, `{"FlatMap":{"k":"2"},"Flag":true}`},
		{inXML, `<r><Map><entry><key>a</key><value>1</value></entry><entry><key>b</key><value>2</value></entry><entry><key>a</key><value>3</value></entry></Map></r>`, `{"Map":{"b":"2","a":"3"}}`},
		{inJSON, `{"Text":"a","Texts":["1"],"Text":"b","Texts":[],"Texts":["2"],"Text":null}`, `{"Text":"b","Texts":["1","2"]}`},
		{inJSON, `{"Map":{"a":"1","\u0061":"2"},"Map":{"b":"3"}}`, `{"Map":{"a":"2","b":"3"}}`},
	} {
		got, err := tt.p.decoder.Decode(200, nil, []byte(tt.body))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s is read as %s, %v, want %s", tt.body, got, err, tt.want)
		}
		if difference := compare(tt.p.decoder, tt.p.reference, []byte(tt.body)); difference != "" {
			t.Errorf("%s: %s", tt.body, difference)
		}
	}
	body := []byte(`{"Map":{`) // with more distinct keys than manyKeys, all but the last repeated
	for i := range 100 {
		body = append(body, `"k`+strconv.Itoa(i%40)+`":"`+strconv.Itoa(i)+`",`...)
	}
	body = append(body, `"last":"x"}}`...)
	if difference := compare(inJSON.decoder, inJSON.reference, body); difference != "" {
		t.Errorf("%s: %s", body, difference)
	}
}
