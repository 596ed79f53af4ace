package derive

import (
	"slices"

	"vigil/internal/posture/resource"
)

// awsLogDeliveries adds the delivery sources of a CloudFront distribution from which CloudWatch
// Logs delivers access logs. A source delivers nothing until a delivery connects it with a
// destination. The deliveries are in the response of the call "deliveries".
var awsLogDeliveries = resource.Function{
	Properties: []resource.Property{{
		Name: "logDeliverySources", Kind: resource.Texts,
		Doc: "The delivery sources of CloudWatch Logs from which its access logs (standard logging v2) are delivered to a destination.",
	}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		var delivered []string
		connected := texts(in.Item.Answers["deliveries"].Get("deliveries.#.deliverySourceName"))
		for _, source := range in.Value.Array() {
			if name := source.Get("name").String(); source.Get("logType").String() == "ACCESS_LOGS" && slices.Contains(connected, name) {
				delivered = append(delivered, name)
			}
		}
		b.Set("logDeliverySources", delivered)
		return nil
	},
}
