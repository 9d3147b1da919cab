// A picture of the plane, without light.

uniform vec2 shift;  // of this sample's rays, within the pixel
out vec4 colour;

void main() {
  Hit hit = first(rayOf(gl_FragCoord.xy + shift));
  colour = hit.any ? vec4(colourOf(hit.cell, hit.node), 1) * coverOf(hit.node) : vec4(0);
}
