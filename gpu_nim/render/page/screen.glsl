// A picture of any resolution over all of the canvas.

precision highp float;
uniform sampler2D picture;
uniform vec2 size;
out vec4 colour;

void main() { colour = texture(picture, gl_FragCoord.xy / size); }
