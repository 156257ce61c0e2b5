// Package xml holds the transforms that read and write XML: Get data from XML,
// XML input stream, Add XML, XML output.
package xml

import "sluice/engine/transform"

// Transforms is the family.
var Transforms = []transform.Definition{
	GetXMLData,
	XMLInputStream,
	AddXML,
	XMLOutput,
}
