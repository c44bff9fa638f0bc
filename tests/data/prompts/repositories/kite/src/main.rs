mod options;
mod render;
mod walk;

fn main() {
    let options = options::Options::parse();
    for file in walk::walk(&options.root) {
        println!("{}", render::table::row(&file));
    }
}
